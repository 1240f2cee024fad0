"""Context packs: passages for an agent inside a budget of tokens."""
