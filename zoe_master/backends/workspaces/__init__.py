"""Workspaces of users: their directories, and moves to another user."""
