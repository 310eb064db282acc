"""Zoe's storage controller: the API of Crystal in both dialects, and extensions under /v1."""
