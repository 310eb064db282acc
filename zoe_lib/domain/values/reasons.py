"""Reasons why an execution waits: stable codes with a sentence and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_client.vocabulary import ReasonCode
from zoe_lib.domain.values.frozen import value

__all__ = ["NOT_SHOWN_TO_FIT", "Reason", "ReasonCode", "holds_up_others"]


@value(frozen=True, slots=True)
class Reason:
    """Why an execution waits: a stable code, one sentence, how many nodes each filter refused, and a hint."""

    code: ReasonCode
    sentence: str
    counts: Mapping[str, int] = field(default_factory=dict)
    hint: str = ""


NOT_SHOWN_TO_FIT = (
    "it was not shown to fit, not even on empty nodes; it starts when a place is found and holds up no other"
)
"""Hint for essential services for which the search neither found a packing nor proved that there is none."""


def holds_up_others(reason: Reason) -> bool:
    """Return whether later executions in the queue may start only by backfill."""
    return reason.code in (ReasonCode.NO_RESOURCES, ReasonCode.NO_NODES) and reason.hint != NOT_SHOWN_TO_FIT
