"""All tables: importing this module registers them. Migrations must lead to exactly these (a test compares them)."""

from __future__ import annotations

from zoe_lib.store.metadata import metadata

__all__ = ["metadata"]
