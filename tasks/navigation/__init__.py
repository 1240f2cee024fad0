"""index.md and ROUTING.md: categories, branches, and where a page belongs."""
