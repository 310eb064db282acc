"""Stored applications and schedules as values. Times are in seconds since the epoch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from zoe_client.vocabulary import MissedPolicy, OverlapPolicy, RunKind, ScheduleOutcome
from zoe_lib.domain.values.frozen import value
from zoe_lib.schedules.times import CronTimes


@value(frozen=True, slots=True)
class StoredApplication:
    """A version of a description or a workflow that is kept under a name: a user's, or the tenant's (`user` None)."""

    tenant: str
    user: str | None
    name: str
    version: int
    document: Mapping[str, Any]
    made_at_s: float
    made_by: str


@value(frozen=True, slots=True)
class RunOptions:
    """What a run is given beside its parameters. `indices`: it runs as an array, such as `0-9%2`.
    `deadline`: a time as people write it, read at each run. `finish_by`: the same, as a promise, `confidence` and
    `budget`: as of descriptions. `ahead_s`: how long before its time it is submitted; it begins at its time, and these
    times count from there."""

    name: str | None = None
    priority: int | None = None
    deadline_s: float | None = None
    indices: str | None = None
    deadline: str | None = None
    finish_by: str | None = None
    confidence: float | None = None
    budget: float | None = None
    ahead_s: float = 0.0


@value(frozen=True, slots=True)
class Schedule:
    """When a user's document runs. It runs what is stored as `application` (None: its own `document`), in that
    `version` (None: the newest).

    due_s: the time that comes next, of those that the expression has; None: there is none any more. next_at_s: when it
    is made, which is later by the jitter, and earlier by what it is submitted ahead. held_by_operator: only operators
    release it. planned_at_s: what the clock showed when it was found. count: how often it was changed, so that of two
    writers one is refused.
    """

    id: str
    tenant: str
    user: str
    name: str
    expression: str
    zone: str
    application: str | None
    version: int | None
    document: Mapping[str, Any] | None
    parameters: Mapping[str, Any]
    options: Mapping[str, Any]
    missed: str
    overlap: str
    jitter_s: float
    end_at_s: float | None
    held: bool
    held_by_operator: bool
    due_s: float | None
    next_at_s: float | None
    planned_at_s: float
    count: int
    made_at_s: float

    @property
    def times(self) -> CronTimes:
        """Return its times."""
        return CronTimes(self.expression, self.zone)

    @property
    def missed_policy(self) -> MissedPolicy:
        """Return what becomes of missed times."""
        return MissedPolicy(self.missed)

    @property
    def overlap_policy(self) -> OverlapPolicy:
        """Return what becomes of times while an earlier run has not ended."""
        return OverlapPolicy(self.overlap)

    @property
    def run_options(self) -> RunOptions:
        """Return what its runs are given."""
        return RunOptions(**self.options)

    @property
    def ahead_s(self) -> float:
        """Return how long before its time a run is submitted, in seconds."""
        return float(self.options.get("ahead_s", 0.0))

    def made_s(self, due_s: float | None) -> float | None:
        """Return when the run of a time is submitted; None for no time."""
        return None if due_s is None else self.begins_s(due_s) - self.ahead_s

    def begins_s(self, due_s: float) -> float:
        """Return when the run of a time may begin, after the jitter: the same, however often it is asked."""
        if not self.jitter_s:
            return due_s
        digest = hashlib.sha256(f"{self.id} {due_s}".encode()).digest()
        return due_s + int.from_bytes(digest[:8]) / 2**64 * self.jitter_s


@value(frozen=True, slots=True)
class ScheduleRun:
    """What came of a time of a schedule. due_s: None if a user ran it. number: how many times were passed over."""

    schedule_id: str
    due_s: float | None
    at_s: float
    outcome: ScheduleOutcome
    kind: RunKind | None = None
    run_id: str | None = None
    code: str = ""
    message: str = ""
    number: int = 1
