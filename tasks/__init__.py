"""The work itself: plain functions on frozen records, one algorithm a module."""
