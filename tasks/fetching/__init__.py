"""Web addresses fetched politely, inside limits, and to public hosts only."""
