"""Sentences of two sources that cannot both be right: found without a model, shown on the page, decided by a person."""
