"""Why something was not started: stable codes with a sentence and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ReasonCode(StrEnum):
    """Stable names: they never change their meaning and are never reused."""

    NO_RESOURCES = "no_resources"
    MAKING_ROOM = "making_room"
    BEHIND_IN_QUEUE = "behind_in_queue"
    NEVER_FITS = "never_fits"
    NO_NODES = "no_nodes"
    NOT_YET_DUE = "not_yet_due"
    HELD = "held"
    WAITS_FOR_EXECUTION = "waits_for_execution"
    RETRY_BACKOFF = "retry_backoff"
    STORAGE_BANDWIDTH = "storage_bandwidth"
    TENANT_LIMIT = "tenant_limit"
    IMAGE_PULLING = "image_pulling"
    SCAN_LIMIT = "scan_limit"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an execution waits: a stable code, one sentence, how many nodes each filter refused, and what helps."""

    code: ReasonCode
    sentence: str
    counts: Mapping[str, int] = field(default_factory=dict)
    hint: str = ""
