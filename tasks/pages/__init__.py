"""Pages that people edit too: who owns which block, merging, links, names, moves."""
