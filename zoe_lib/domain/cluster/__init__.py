"""Nodes and the platform: what runs where, and the admin's policy."""
