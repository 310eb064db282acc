"""Filters of objects: bytes in, bytes out."""
