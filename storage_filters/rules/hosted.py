"""The filters that the host of this process runs; others read it, since a proxy may lack the host."""

from __future__ import annotations

hosted: set[str] = set()
"""Kinds of filters; empty in a proxy without the host."""
