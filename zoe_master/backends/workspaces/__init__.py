"""Workspaces of users: where they are, and how they move to another user."""
