"""Derive the observation of a service from all reports on it: a pure function."""

from __future__ import annotations

import re
from typing import TypedDict

from zoe_lib.domain.executions.execution import Cause, ExecutionId, ServiceId
from zoe_master.backends.base import Observation, ObservedState
from zoe_master.backends.engine.daemon.container_facts import KILLED, ContainerFacts
from zoe_master.backends.engine.errors import NOTHING, ErrorText, error_text
from zoe_master.backends.engine.services.conditions import condition_of
from zoe_master.backends.engine.services.records import Record

TERMINATED = 128 + 15
_ENDED_BY_SIGNAL = (KILLED, TERMINATED)
_SIGNALLED = 128
# Engines' words, in lower case, about a mount, a process or a call of their own that failed temporarily.
_PASSES = (
    "device or resource busy",
    "resource temporarily unavailable",
    "context deadline exceeded",
    # When a node joins a network, Swarm checks new tasks again, and rejects those with devices.
    "assigned node no longer meets constraints",
)
# If services start at the same moment with the same new volume, each container copies the image's directory into it,
# and the engine stops at files that another one has just made. A moment later the volume is no longer new.
_COPIED_AT_ONCE = re.compile(r"/volumes/[^/\s]+/_data\b.*: file exists", re.DOTALL)


class _Which(TypedDict):
    service_id: ServiceId
    execution_id: ExecutionId
    node: str
    backend_id: str


def derive_observation(record: Record) -> Observation:
    """Return the present state. An end is final: it is never examined again."""
    if record.mark.end is not None:
        return record.mark.end
    container = record.container
    if container is not None and container.finished_at_s is not None:
        return _end_observation(record, container)
    return _alive(record)


def lost_observation(record: Record, now_s: float, message: str) -> Observation:
    """Return the state `lost`: the service's end cannot be known."""
    started_at_s = record.container.started_at_s if record.container else None
    return Observation(
        **identity(record), state=ObservedState.LOST, at_s=now_s, message=message, started_at_s=started_at_s
    )


def never_ran(record: Record, now_s: float, cause: Cause, error: ErrorText = NOTHING) -> Observation:
    """Return the end of a service that never ran."""
    return Observation(**identity(record), state=ObservedState.ENDED, at_s=now_s, cause=cause, **error._asdict())


def identity(record: Record) -> _Which:
    """Return the fields that identify the service and its container."""
    container = record.container
    task = f" task:{container.task_id}" if container is not None and container.task_id else ""
    return {
        "service_id": record.service_id,
        "execution_id": record.execution_id,
        "node": record.node,
        "backend_id": f"container:{container.container_id[:12]}{task}" if container is not None else "",
    }


def _alive(record: Record) -> Observation:
    mark, container = record.mark, record.container
    started_at_s = container.started_at_s if container else None
    which = identity(record)
    if mark.stop_cause is not None and mark.stop_at_s is not None:
        stopping = ObservedState.STOPPING
        return Observation(**which, state=stopping, at_s=mark.stop_at_s, started_at_s=started_at_s)
    told = condition_of(record)._asdict()
    if started_at_s is None:
        return Observation(**which, state=ObservedState.STARTING, at_s=record.created_at_s, **told)
    if record.probe is None:
        return Observation(**which, state=ObservedState.READY, at_s=started_at_s, started_at_s=started_at_s, **told)
    if mark.ready_at_s is not None:
        ready_at_s = mark.ready_at_s
        return Observation(**which, state=ObservedState.READY, at_s=ready_at_s, started_at_s=started_at_s, **told)
    return Observation(**which, state=ObservedState.STARTED, at_s=started_at_s, started_at_s=started_at_s, **told)


def _end_observation(record: Record, container: ContainerFacts) -> Observation:
    if container.started_at_s is None:
        stopped = record.mark.stop_cause is not None
        return never_ran(
            record,
            container.finished_at_s or record.created_at_s,
            Cause.STOPPED if stopped else why_never(container.error),
            error_text("its engine could not start it", container.error),
        )
    cause, error = _cause_and_text(record, container)
    return Observation(
        **identity(record),
        state=ObservedState.ENDED,
        at_s=container.finished_at_s or container.started_at_s,
        exit_code=container.exit_code,
        cause=cause,
        started_at_s=container.started_at_s,
        left_files=container.left_files,
        **error._asdict(),
    )


def _cause_and_text(record: Record, container: ContainerFacts) -> tuple[Cause, ErrorText]:
    stop_cause = record.mark.stop_cause
    if stop_cause is Cause.NEVER_READY and record.probe is not None:
        return stop_cause, ErrorText(f"port {record.probe.port} did not answer within {record.probe.timeout_s:g} s")
    if stop_cause is not None:
        return stop_cause, NOTHING
    if container.out_of_memory:  # despite its exit code: a shell that continues has half of the results
        return Cause.OUT_OF_MEMORY, ErrorText("it used more memory than its limit")
    if container.exit_code in _ENDED_BY_SIGNAL and (removed := record.removed_by):
        return Cause.STOPPED, ErrorText(removed)
    if killed := _outside_kill(record, container):
        return Cause.KILLED, ErrorText(killed)
    return Cause.EXITED, error_text("its engine reports", container.error) if container.error else NOTHING


def _outside_kill(record: Record, container: ContainerFacts) -> str:
    """Return how it was ended from outside of Zoe; empty if it was not."""
    signal = (container.exit_code or 0) - _SIGNALLED
    if signal in container.signals:
        return f"its container on {record.node} was ended from outside of Zoe, with signal {signal}"
    if record.gap and container.exit_code in (*_ENDED_BY_SIGNAL, 255):
        return "it was ended while its engine did not answer"
    return ""


def why_never(message: str) -> Cause:
    """Return why a container never ran, by the engine's words."""
    lowered = message.lower()
    if "no such image" in lowered:
        return Cause.IMAGE_UNAVAILABLE
    passes = any(words in lowered for words in _PASSES) or _COPIED_AT_ONCE.search(lowered)
    return Cause.ENGINE_FAULT if passes else Cause.START_FAILED
