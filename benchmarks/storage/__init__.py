"""The object store with Zoe's filters: what it promises, costs and saves."""
