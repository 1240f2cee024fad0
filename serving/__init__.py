"""How people and programs reach a wiki."""
