"""Directories of services and users, and who owns them."""
