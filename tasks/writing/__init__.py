"""The compiler with a model, step by step: read, find, decide, write, cite, check, and put the page together."""
