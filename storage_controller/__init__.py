"""A storage controller of our own: the API of Crystal in both dialects, and under /v1 what was missing there."""
