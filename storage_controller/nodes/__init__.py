"""The store's nodes: how they are, and restarts."""
