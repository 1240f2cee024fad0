"""What an undo does to files, sources, lists and contradictions; `flows.undo` is the run that does it."""
