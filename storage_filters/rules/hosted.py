"""The filters that the filter host of this process runs; a proxy may lack the host."""

from __future__ import annotations

hosted: set[str] = set()
"""Kinds of filters; empty in a proxy without the host."""
