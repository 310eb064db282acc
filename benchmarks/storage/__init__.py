"""The object store with Zoe's filters: guarantees, costs and savings."""
