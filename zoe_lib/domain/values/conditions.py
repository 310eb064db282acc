"""Conditions that must be met before an execution enters the queue."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_client.vocabulary import TERMINAL_STATES, DependencyKind, ExecutionState, Holder
from zoe_lib.domain.values.clock import utc_text
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.domain.values.reasons import Reason, ReasonCode

OTHERWISE = "an execution that it was to run after ended otherwise"
"""Message of a dependency that can no longer be met."""
NOT_NEEDED = "not needed: it runs only if one of the executions before it ends otherwise"


@value(frozen=True, slots=True)
class Dependency:
    """Another execution that must end first. `met`: whether it ended as required; None while it has not ended, or the
    master has not seen its end.
    """

    kind: DependencyKind
    on: str
    met: bool | None = None

    def is_met_by(self, end: ExecutionState | None) -> bool | None:
        """Return whether this is met when the other execution is in that state; None: undecided.

        `end` None: the execution does not exist any more, so its outcome is unknown.
        """
        if end is None:
            return self.kind is DependencyKind.ANY
        if end not in TERMINAL_STATES:
            return None
        if self.kind is DependencyKind.ANY:
            return True
        return (end is ExecutionState.SUCCEEDED) is (self.kind is DependencyKind.OK)

    def __str__(self) -> str:
        """Return the notation of users."""
        return f"{self.kind.value}:{self.on}"


@value(frozen=True, slots=True)
class Conditions:
    """Conditions for the queue: a hold, a begin time, other executions.
    held: who holds it. begin_at_s: seconds since the epoch, None without. keep: hold it when a dependency can no longer
    be met; else it ends then. any_of: one met dependency is enough. end_by_s: the time at which it is ended unless it
    has ended, waiting or running, in seconds since the epoch. whole: the workflow of a joint promise, and its number of
    executions; empty: its promise is its own.
    """

    held: Holder | None = None
    begin_at_s: float | None = None
    after: tuple[Dependency, ...] = ()
    keep: bool = False
    any_of: bool = False
    end_by_s: float | None = None
    whole: str = ""
    members: int = 0

    @property
    def undecided_dependencies(self) -> Iterator[Dependency]:
        """Yield the undecided dependencies."""
        return (dependency for dependency in self.after if dependency.met is None)

    def are_met(self, now_s: float) -> bool:
        """Return whether all conditions are met."""
        return self.met_but_for_time and self.begins_s <= now_s

    @property
    def met_but_for_time(self) -> bool:
        """Return whether all conditions but the begin time are met."""
        return self.held is None and self.dependencies_met

    @property
    def begins_s(self) -> float:
        """Return the earliest begin, in seconds since the epoch; 0 without one."""
        return self.begin_at_s or 0.0

    @property
    def dependencies_met(self) -> bool:
        """Return whether all dependencies have ended as required."""
        if self.any_of and self.after:
            return any(dependency.met for dependency in self.after)
        return all(dependency.met for dependency in self.after)

    @property
    def impossible(self) -> bool:
        """Return whether the dependencies can no longer be met."""
        if self.any_of and self.after:
            return all(dependency.met is False for dependency in self.after)
        return any(dependency.met is False for dependency in self.after)

    def too_late(self, now_s: float) -> bool:
        """Return whether the time by which it must have ended has passed."""
        return self.end_by_s is not None and self.end_by_s <= now_s

    @property
    def times_s(self) -> tuple[float, ...]:
        """Return the times at which the conditions may change, in seconds since the epoch."""
        return tuple(at_s for at_s in (self.begin_at_s, self.end_by_s) if at_s is not None)

    def with_ended(self, on: str, ends: ExecutionState | None) -> Conditions:
        """Return the conditions after an execution has ended."""
        after = tuple(
            changed(dependency, met=dependency.is_met_by(ends))
            if dependency.on == on and dependency.met is None
            else dependency
            for dependency in self.after
        )
        return changed(self, after=after)


NO_CONDITIONS = Conditions()


def reason_of(conditions: Conditions, now_s: float) -> Reason | None:
    """Return the condition that keeps an execution from the queue, the longest lasting first; None if all are met.

    Other users who see the execution read this; its dependencies may be hidden from them, so they are not named.
    """
    if conditions.held is not None:
        failed = conditions.impossible
        why = f": {OTHERWISE}" if failed else ""
        release = (
            "`zoe release` lets it into the queue" if conditions.held is Holder.USER else "an operator can release it"
        )
        return Reason(ReasonCode.HELD, f"It is held{why}.", hint=release)
    awaited = sum(1 for _ in conditions.undecided_dependencies)
    if awaited:
        others = "another execution" if awaited == 1 else f"{awaited} other executions"
        return Reason(ReasonCode.DEPENDENCIES, f"It runs after {others}.", {"executions": awaited})
    if conditions.begin_at_s is not None and conditions.begin_at_s > now_s:
        return Reason(ReasonCode.BEGIN_TIME, f"It does not begin before {utc_text(conditions.begin_at_s)}.")
    return None
