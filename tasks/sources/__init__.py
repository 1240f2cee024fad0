"""What there is to read: folders, listed addresses, feeds."""
