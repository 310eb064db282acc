"""What the Spark queries of an execution read from the object store, as its drivers report it."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.values.frozen import value

QUERIES_MAX = 100
"""Queries that are kept for each execution: the newest."""


@value(frozen=True, slots=True)
class StoreQuery:
    """A query. number: of the driver. object_bytes: of the parts of objects that it scanned; read_bytes: what the store
    sent of these. plainly: why parts were read plainly. at_s: when it was reported.
    """

    number: int
    object_bytes: int
    read_bytes: int
    plainly: tuple[str, ...]
    at_s: float


def with_newer(known: Sequence[StoreQuery], newer: Sequence[StoreQuery]) -> tuple[StoreQuery, ...]:
    """Return the queries that are kept, oldest first."""
    return (*known, *newer)[-QUERIES_MAX:]
