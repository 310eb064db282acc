"""Bounds of a JSON document, whatever it describes."""

DOCUMENT_BYTES_MAX = 1 << 20
"""The largest description of the original Zoe is 8 KiB; frameworks keep ours shorter."""
DEPTH_MAX = 24
"""A pushdown is at depth 5; the rest is room for mistakes that deserve a better message than "too deep"."""
