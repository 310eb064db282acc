"""The kinds of entries in the journal that a replay knows, and their writers: ticks of a master, or users."""

from __future__ import annotations

import re
from collections.abc import Iterable

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import ArrayEventKind, member_of
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.store.values import JournalEntry

POLICY_SET, RESTORED = "policy_set", "restored"
FACTS = frozenset({POLICY_SET, RESTORED})
"""Kinds of entries about the installation."""
ARRAYS = frozenset(kind.value for kind in ArrayEventKind)
"""Kinds of entries about whole arrays."""
PROMISES = frozenset(kind.kind for kind in (ev.Promised, ev.PromiseOffered, ev.PromiseAdjusted, ev.PromiseAtRisk))
"""Kinds of entries about promises."""
# Users, admins, schedules, scaling rules and the reader of lists write these, beside the ticks.
_FROM_OTHERS = frozenset(
    kind.kind for kind in (ev.Released, ev.Modified, ev.Scaled, ev.ScalingBlind, ev.OwnerChanged)
) | {POLICY_SET, RESTORED}
# A tick writes these, or a user does, according to their data or their cause.
_FROM_BOTH = frozenset(
    kind.kind for kind in (ev.Submitted, ev.Held, ev.Stopping, ev.Refused, ev.Promised, ev.DeadlineMissed)
)
_FROM_TICKS = frozenset(
    kind.kind
    for kind in (
        ev.Queued,
        ev.DependencyEnded,
        ev.PromiseOffered,
        ev.PromiseAdjusted,
        ev.PromiseAtRisk,
        ev.ReasonChanged,
        ev.Forecasted,
        ev.StartPlanned,
        ev.StorageGranted,
        ev.StorageRefused,
        ev.StorageDeclined,
        ev.StorageWithdrawn,
        ev.TenantCredentialUsed,
        ev.AttemptOpened,
        ev.PrologueEnded,
        ev.EpilogueEnded,
        ev.StorageTransferred,
        ev.InputsDecided,
        ev.ElasticPlaced,
        ev.ServiceStarting,
        ev.ServiceStarted,
        ev.ServiceReady,
        ev.ServiceStopping,
        ev.ServiceEnded,
        ev.ServiceLost,
        ev.ServiceRetried,
        ev.Running,
        ev.IdleWarned,
        ev.Ended,
        ev.Requeued,
    )
)
_ARRAYS_FROM_TICKS = frozenset({ArrayEventKind.DEPENDENCY.value, ArrayEventKind.DEADLINE_MISSED.value})
KNOWN = _FROM_OTHERS | _FROM_BOTH | _FROM_TICKS | ARRAYS
_PLAN = re.compile(r"plan-[0-9a-f]{12}")


def unknown_kinds(entries: Iterable[JournalEntry]) -> list[str]:
    """Return the kinds of entries that a replay does not know: another version of Zoe wrote them."""
    return sorted({entry.kind for entry in entries} - KNOWN)


def is_from_tick(entry: JournalEntry) -> bool:
    """Return whether the cause of an entry is a tick."""
    return _PLAN.fullmatch(entry.cause_id) is not None


def from_others(entry: JournalEntry) -> bool:
    """Return whether users or admins wrote it, not a master's tick: submissions, cancellations, policies."""
    kind = entry.kind
    if kind in ARRAYS:
        return kind not in _ARRAYS_FROM_TICKS
    return kind in _FROM_OTHERS or (kind in _FROM_BOTH and _is_act_of_user(entry))


def _is_act_of_user(entry: JournalEntry) -> bool:
    kind, data = entry.kind, entry.data
    if kind == ev.Submitted.kind:  # a tick makes executions of arrays
        return not is_from_tick(entry) or member_of(entry.execution_id or "") is None
    if kind == ev.Held.kind:  # the master puts executions on hold that can no longer run after others
        return bool(data.get("user"))
    if kind == ev.Promised.kind:  # a user accepts an offer
        return bool(data.get("offer"))
    if kind == ev.DeadlineMissed.kind:  # with a cancellation after the deadline
        return bool(entry.cause_id) and not is_from_tick(entry)
    return data.get("cause") in (Cause.CANCELLED, Cause.REQUEUED)
