"""The behaviour of a simulated service, as data, and its timeline."""

from __future__ import annotations

import math
import threading

from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.frozen import value
from zoe_master.backends.base import Observation, ObservedState, ServiceStart

SIGTERM_EXIT_CODE = 143
SIGKILL_EXIT_CODE = 137


class SimulatedClock:
    """A clock that stands still until it is advanced, for one thread: waiting advances it.

    It implements `zoe_lib.clock.Clock`; both of its clocks return the same number.
    """

    def __init__(self, now_s: float = 0.0) -> None:
        self._now_s = now_s

    def now_s(self) -> float:
        """Return seconds since the epoch."""
        return self._now_s

    def monotonic_s(self) -> float:
        """Return the same number."""
        return self._now_s

    def sleep(self, seconds: float) -> None:
        """Advance by that many seconds."""
        self.advance(seconds)

    def wait(self, event: threading.Event, timeout_s: float) -> bool:
        """Return whether the event is set; if it is not, advance by `timeout_s`."""
        if not event.is_set():
            self.advance(timeout_s)
        return event.is_set()

    def advance(self, seconds: float) -> None:
        """Advance the clock by that many seconds; time never goes back."""
        if seconds < 0:
            raise ValueError(f"time cannot go back, here by {-seconds} s")
        self._now_s += seconds


@value(frozen=True, slots=True, kw_only=True)
class ServiceBehaviour:
    """Behaviour of a service after the hand-over; durations in seconds, `math.inf` is never.

    start_s: from the hand-over to the running process. fails: it never runs, and ends after start_s with this cause.
    ready_s: from the running process to the first success of its readiness probe (without a probe: ready at once).
    run_s: from the running process to its own end, with `exit_code`, `cause` and `message`. stop_s: from the request to
    stop to its end, with `stop_exit_code`; after the grace period it is killed.
    """

    start_s: float = 0.0
    fails: Cause | None = None
    ready_s: float = 0.0
    run_s: float = math.inf
    exit_code: int | None = 0
    cause: Cause = Cause.EXITED
    message: str = ""
    stop_s: float = 0.0
    stop_exit_code: int = SIGTERM_EXIT_CODE
    output: bytes = b""


def timeline(start: ServiceStart, behaviour: ServiceBehaviour, at_s: float) -> list[Observation]:
    """Return every state of the undisturbed service in order of time; the last may last for ever."""
    steps = [observation(start, ObservedState.STARTING, at_s)]
    running_at_s = at_s + behaviour.start_s
    if behaviour.fails is not None:
        end = observation(
            start, ObservedState.ENDED, running_at_s, cause=behaviour.fails, message=behaviour.message or "simulated"
        )
        return [*steps, end]
    ready_at_s, end = _ready_and_end(start, behaviour, running_at_s)
    if ready_at_s > running_at_s:
        steps.append(observation(start, ObservedState.STARTED, running_at_s, started_at_s=running_at_s))
    if ready_at_s < end.at_s:
        steps.append(observation(start, ObservedState.READY, ready_at_s, started_at_s=running_at_s))
    return [*steps, end]


def _ready_and_end(start: ServiceStart, behaviour: ServiceBehaviour, running_at_s: float) -> tuple[float, Observation]:
    """Return when the service is ready (perhaps never) and how it ends (perhaps at infinity)."""
    probe = start.component.readiness
    ready_at_s = running_at_s + (behaviour.ready_s if probe is not None else 0.0)
    own_end = observation(
        start,
        ObservedState.ENDED,
        running_at_s + behaviour.run_s,
        exit_code=behaviour.exit_code,
        cause=behaviour.cause,
        message=behaviour.message,
        started_at_s=running_at_s,
    )
    if probe is None or behaviour.ready_s <= probe.timeout_s or behaviour.run_s <= probe.timeout_s:
        return ready_at_s, own_end
    never = observation(
        start,
        ObservedState.ENDED,
        running_at_s + probe.timeout_s,
        exit_code=behaviour.stop_exit_code,
        cause=Cause.NEVER_READY,
        message=f"port {probe.port} did not answer within {probe.timeout_s:g} s",
        started_at_s=running_at_s,
    )
    return math.inf, never


def stop_timeline(
    start: ServiceStart, behaviour: ServiceBehaviour, present: Observation, at_s: float
) -> list[Observation]:
    """Return the states after a request to stop now: stopping, then ended by itself, by the request or after the
    grace.
    """
    started_at_s = present.started_at_s
    stopping = observation(start, ObservedState.STOPPING, at_s, started_at_s=started_at_s)
    if started_at_s is None:
        return [stopping, observation(start, ObservedState.ENDED, at_s, cause=Cause.STOPPED)]
    killed = behaviour.stop_s > start.component.stop_grace_s
    end_at_s = at_s + min(behaviour.stop_s, start.component.stop_grace_s)
    by_itself = started_at_s + behaviour.run_s <= end_at_s
    ended = observation(
        start,
        ObservedState.ENDED,
        min(end_at_s, started_at_s + behaviour.run_s),
        exit_code=behaviour.exit_code if by_itself else SIGKILL_EXIT_CODE if killed else behaviour.stop_exit_code,
        cause=behaviour.cause if by_itself else Cause.STOPPED,
        started_at_s=started_at_s,
    )
    return [stopping, ended]


def observation(
    start: ServiceStart,
    state: ObservedState,
    at_s: float,
    *,
    exit_code: int | None = None,
    cause: Cause | None = None,
    message: str = "",
    started_at_s: float | None = None,
) -> Observation:
    """Return an observation of the service of `start`."""
    return Observation(
        service_id=start.service_id,
        execution_id=start.execution_id,
        state=state,
        at_s=at_s,
        node=start.node,
        backend_id=f"simulated:{start.service_id}" if started_at_s is not None else "",
        exit_code=exit_code,
        cause=cause,
        message=message,
        started_at_s=started_at_s,
    )
