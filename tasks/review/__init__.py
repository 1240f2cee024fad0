"""Pages and updates that wait for a person."""
