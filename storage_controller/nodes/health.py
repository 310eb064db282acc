"""Judge the health of the store's nodes from their answers. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from storage_controller.settings import NodeKind

_SENTENCE_MAX = 300
_NAMED_MAX = 3
"""Most disks that a sentence names; further ones are counted."""


class NodeState(StrEnum):
    """State of a node. UNKNOWN: it was not checked, or the result was not stored."""

    UP = "up"
    SLOW = "slow"
    FAILING = "failing"
    AWAY = "away"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Disk:
    """A device of a node, with its used part from 0 to 1; None: it is not mounted."""

    name: str
    used: float | None


@dataclass(frozen=True, slots=True)
class Findings:
    """Result of one check of a node.

    took_s: time to the answer of its first request. away: why it gave none; late: the path without an answer in time.
    wrong: its invalid answer. filters: why it does not store objects as rules say. unsigned_s3: whether S3 requests can
    carry unsigned instructions. two_readings: whether requests can hide others. recon: whether it reports its disks.
    quarantined: objects, or databases of its kind, that its auditor quarantined. pending: queued updates of listings;
    None: unknown. replicated_s: end of its last replication pass, since the epoch; None: unknown.
    """

    took_s: float = 0.0
    away: str = ""
    late: str = ""
    wrong: str = ""
    filters: str = ""
    unsigned_s3: bool = False
    two_readings: bool = False
    recon: bool = False
    disks: tuple[Disk, ...] = ()
    quarantined: int = 0
    pending: int | None = None
    replicated_s: float | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Thresholds above which a node is not up. full: the used part of a disk, from 0 to 1."""

    slow_s: float = 1.0
    full: float = 0.95
    replication_s: float = 7200.0
    pending: int = 10_000


def judge(kind: NodeKind, found: Findings, bounds: Bounds, now_s: float, silent_s: float) -> tuple[NodeState, str]:
    """Return the state and its reason, which is empty if it is up. now_s: since the epoch; silent_s: since its last
    answer.
    """
    if found.away:
        return NodeState.AWAY, f"no answer for {duration_text(silent_s)}: {found.away}"[:_SENTENCE_MAX]
    if problems := list(_problems(kind, found, bounds, now_s)):
        return NodeState.FAILING, "; ".join(problems)[:_SENTENCE_MAX]
    if found.late:
        return NodeState.SLOW, f"it did not answer {found.late} in time"
    if found.took_s > bounds.slow_s:
        return NodeState.SLOW, f"it answered after {found.took_s:.1f} s"
    return NodeState.UP, ""


def _problems(kind: NodeKind, found: Findings, bounds: Bounds, now_s: float) -> Iterator[str]:
    if found.wrong:
        yield found.wrong
    if found.filters:
        yield f"objects are not stored as the rules say: {found.filters}"
    if found.unsigned_s3:
        yield "S3 requests can carry unsigned instructions: put zoe_s3_signed before s3api in its pipeline"
    if found.two_readings:
        yield "requests can hide others from a proxy before it: put zoe_framing first in its pipeline"
    if lost := [disk.name for disk in found.disks if disk.used is None]:
        yield f"{_disks(lost)} not mounted"
    for disk in sorted((d for d in found.disks if d.used is not None), key=lambda d: -(d.used or 0))[:_NAMED_MAX]:
        if disk.used is not None and disk.used >= bounds.full:
            yield f"disk {disk.name} {disk.used:.0%} full".replace("%", " %")
    if found.quarantined:
        subject = "object" if kind is NodeKind.OBJECT else f"{kind} database"
        yield f"{found.quarantined} {subject}{'s' if found.quarantined > 1 else ''} quarantined"
    if (found.pending or 0) > bounds.pending:
        yield f"{found.pending} updates of listings wait"
    if found.replicated_s is not None and now_s - found.replicated_s > bounds.replication_s:
        yield f"last replication pass ended {duration_text(now_s - found.replicated_s)} ago"


def _disks(names: list[str]) -> str:
    further = f" and {len(names) - _NAMED_MAX} further" if len(names) > _NAMED_MAX else ""
    verb = "is" if len(names) == 1 else "are"
    return f"disk{'s' if len(names) > 1 else ''} {', '.join(names[:_NAMED_MAX])}{further} {verb}"


def duration_text(seconds: float) -> str:
    """Return a duration in its largest unit: `12 s`, `5 min`, `2 h`, `3 d`."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length or (unit != "d" and seconds >= length and seconds % length < 1):
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0.0):.0f} s"
