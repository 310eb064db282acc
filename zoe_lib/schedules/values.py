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
    """A stored version of a description or a workflow, under a name: a user's, or the tenant's (`user` None)."""

    tenant: str
    user: str | None
    name: str
    version: int
    document: Mapping[str, Any]
    made_at_s: float
    made_by: str


@value(frozen=True, slots=True)
class RunOptions:
    """Options of a run besides its parameters. `indices`: it runs as an array, such as `0-9%2`. `deadline`: a time in
    users' notation, parsed at each run. `finish_by`: the same as a promise, `confidence` and `budget`: as in
    descriptions. `ahead_s`: how long before its time it is submitted; it begins at its time, and these times count from
    there.
    """

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
    """A schedule of a user's document. It runs the stored `application` (None: its own `document`), in that `version`
    (None: the newest).
    due_s: its next time by the expression; None: no times are left. next_at_s: when that run is made, later by the
    jitter, and earlier by the time it is submitted ahead. held_by_operator: only operators release it. planned_at_s:
    the clock at the time of planning. count: number of changes, so that one of two concurrent writers is refused.
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
        """Return the times of its expression."""
        return CronTimes(self.expression, self.zone)

    @property
    def missed_policy(self) -> MissedPolicy:
        """Return the treatment of missed times."""
        return MissedPolicy(self.missed)

    @property
    def overlap_policy(self) -> OverlapPolicy:
        """Return the treatment of times while an earlier run has not ended."""
        return OverlapPolicy(self.overlap)

    @property
    def run_options(self) -> RunOptions:
        """Return the options of its runs."""
        return RunOptions(**self.options)

    @property
    def ahead_s(self) -> float:
        """Return how long before its time a run is submitted, in seconds."""
        return float(self.options.get("ahead_s", 0.0))

    def made_s(self, due_s: float | None) -> float | None:
        """Return when the run of a time is submitted; None for no time."""
        return None if due_s is None else self.begins_s(due_s) - self.ahead_s

    def begins_s(self, due_s: float) -> float:
        """Return the earliest begin of the run of a time, after the jitter: the same on each call."""
        if not self.jitter_s:
            return due_s
        digest = hashlib.sha256(f"{self.id} {due_s}".encode()).digest()
        return due_s + int.from_bytes(digest[:8]) / 2**64 * self.jitter_s


@value(frozen=True, slots=True)
class ScheduleRun:
    """Outcome of a schedule's time. due_s: None if a user ran it. number: how many times were passed over."""

    schedule_id: str
    due_s: float | None
    at_s: float
    outcome: ScheduleOutcome
    kind: RunKind | None = None
    run_id: str | None = None
    code: str = ""
    message: str = ""
    number: int = 1
