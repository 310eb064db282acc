"""Commands of nodes and policy."""
