"""Administration of the object store."""
