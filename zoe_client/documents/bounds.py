"""Limits of size and depth for any JSON document."""

DOCUMENT_BYTES_MAX = 1 << 20
"""The largest description of the original Zoe has 8 KiB; frameworks keep ours shorter."""
DEPTH_MAX = 24
"""A pushdown is at depth 5; deeper mistakes deserve a better message than "too deep"."""
