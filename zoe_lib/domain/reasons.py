"""Why something was not started: stable codes with a sentence and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_lib.domain.values import TextEnum, value


class ReasonCode(TextEnum):
    """Stable names: they never change their meaning and are never reused."""

    NO_RESOURCES = "no_resources"
    MAKING_ROOM = "making_room"
    BEHIND_IN_QUEUE = "behind_in_queue"
    NEVER_FITS = "never_fits"
    NO_NODES = "no_nodes"
    NODES_AWAY = "nodes_away"
    FOREIGN_USE = "foreign_use"
    RETRY_BACKOFF = "retry_backoff"
    STORAGE_BANDWIDTH = "storage_bandwidth"
    STORAGE_REFUSED = "storage_refused"
    TENANT_LIMIT = "tenant_limit"
    USER_LIMIT = "user_limit"
    IMAGE_PULLING = "image_pulling"
    LOCATING_INPUTS = "locating_inputs"
    SCAN_LIMIT = "scan_limit"


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
"""The hint for a core for which the search neither found a packing nor proved that there is none."""


def holds_up_others(reason: Reason) -> bool:
    """Return whether those behind it in the queue may start only by backfill."""
    return reason.code in (ReasonCode.NO_RESOURCES, ReasonCode.NO_NODES) and reason.hint != NOT_SHOWN_TO_FIT
