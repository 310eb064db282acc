"""Decide where the filters of an object run: at the proxy, or at the object servers. Pure.

A filter ON OBJECT runs after all others when an object is stored, nearest to the disk. If one of them has to run at the
proxy nevertheless, so do the filters before it, so that the order stays: object servers run the longest tail of a chain
that they can run completely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from storage_filters.rules.chains import Verdict

AT_OBJECT_SERVERS = "ON OBJECT"
"""Capability in a proxy's reports, beside its filters: its object servers run those ON OBJECT."""
NODE_KINDS = frozenset(("COMPRESSION", "ENCRYPTION", "NOOP"))
"""Filters that object servers can run. Modules are sent to proxies only."""


class MoveReason(StrEnum):
    """Why a filter ON OBJECT runs at the proxy."""

    NO_SERVERS = "no_servers"
    FRAGMENTS = "fragments"
    MODULE = "module"
    ORDER = "order"


SENTENCES = {
    MoveReason.NO_SERVERS: "not every proxy has object servers that run filters",
    MoveReason.FRAGMENTS: "the object servers of this container have fragments by an erasure code, not objects",
    MoveReason.MODULE: "object servers do not run modules",
    MoveReason.ORDER: "a filter after it runs at the proxy",
}


@dataclass(frozen=True, slots=True)
class PlacedFilter:
    """A filter of a chain, and where it runs. moved: why it does not run where its rule says."""

    verdict: Verdict
    at_servers: bool
    moved: MoveReason | None = None


def place_filters(steps: Sequence[Verdict], all_moved: MoveReason | None) -> list[PlacedFilter]:
    """Return where the filters of a stored object run, in their order at PUT. all_moved: why object servers run no
    filters; None if they do.
    """
    found: list[PlacedFilter] = []
    barred = False
    for step in reversed(steps):
        if step.action.server != "OBJECT":
            found.append(PlacedFilter(step, at_servers=False))
            barred = True
            continue
        moved = all_moved or _why_not(step, barred)
        found.append(PlacedFilter(step, moved is None, moved))
        barred = barred or moved is not None
    return found[::-1]


def _why_not(step: Verdict, barred: bool) -> MoveReason | None:
    if step.action.kind not in NODE_KINDS:
        return MoveReason.MODULE
    return MoveReason.ORDER if barred else None


def place_text(one: PlacedFilter) -> str:
    """Return where a filter runs, as the end of a sentence."""
    if one.at_servers:
        return "at the object servers, or at the proxy where they have fragments by an erasure code"
    return "at the proxy" if one.moved is None else f"at the proxy, though ON OBJECT: {SENTENCES[one.moved]}"
