"""Notes on documents, and pages out of the notes, without a model."""
