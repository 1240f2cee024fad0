"""Answers from published snapshots: the index of each, the engine that asks it, and what is shown of a hit."""
