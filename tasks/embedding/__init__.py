"""Embeddings of pages and questions, and which pages mean nearly the same."""
