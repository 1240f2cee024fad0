"""Measured comparisons, runnable by anyone."""
