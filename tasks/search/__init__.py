"""Keyword and meaning search: tokens, postings, scores, fusion, passages."""
