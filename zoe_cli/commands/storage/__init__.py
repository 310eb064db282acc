"""Commands of the object store."""
