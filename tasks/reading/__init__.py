"""One source from bytes to an anchored, chunked document, in worker processes with limits."""
