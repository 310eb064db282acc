"""Logging of Zoe's processes."""
