"""Nodes, the platform, and the admin's policy."""
