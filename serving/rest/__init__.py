"""The REST door: FastAPI over `serving.backend`, on loopback unless told otherwise."""
