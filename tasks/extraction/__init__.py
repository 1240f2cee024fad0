"""A source's bytes to text with its structure: one module a format."""
