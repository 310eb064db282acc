"""Prologue and epilogue: the admin's programs before the first service of an attempt starts, and after its last one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Protocol

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import (
    Cause,
    Execution,
    ExecutionId,
    ExecutionState,
    Mark,
    Outcome,
    ServiceId,
    ServiceState,
    awaits_prologue,
)
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.domain.values.frozen import value
from zoe_master.backends.base import Observation
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

_MESSAGE_CHARACTERS_MAX = 500
_NOT_SET = "no such program is set any more"
_UNKNOWN = "the master ended before the program: its end is not known"


class AttemptProgramKind(StrEnum):
    """When a program of the admin runs."""

    PROLOGUE = "prologue"
    EPILOGUE = "epilogue"


@value(frozen=True, slots=True)
class AttemptProgramCall:
    """A program for an attempt."""

    kind: AttemptProgramKind
    execution_id: ExecutionId
    attempt: int


@value(frozen=True, slots=True)
class AttemptProgramEnd:
    """How a program ended: `exit_code` is None if it was killed or could not run; `output` is the end of its output."""

    exit_code: int | None
    output: str


class ProgramRunner(Protocol):
    """Runs programs beside the loop."""

    @property
    def programs(self) -> Mapping[AttemptProgramKind, str]:
        """Return the paths of the programs that are set."""
        ...

    def is_set(self, kind: AttemptProgramKind) -> bool:
        """Return whether a program of this kind can be run, or its result is known."""
        ...

    def result(self, call: AttemptProgramCall, variables: Mapping[str, str]) -> AttemptProgramEnd | None:
        """Return how a program ended; begin it at the first call, and return None until it has ended."""
        ...

    def is_begun(self, call: AttemptProgramCall) -> bool:
        """Return whether a program was begun."""
        ...

    def forget(self, call: AttemptProgramCall) -> None:
        """Drop the result of a program."""
        ...


class AttemptPrograms:
    """Journals which programs an attempt has, then runs them, then journals how they ended."""

    def __init__(self, cache: StateCache, runner: ProgramRunner | None = None) -> None:
        self._cache = cache
        self._runner = runner

    def opened(
        self, execution: Execution, observations: Mapping[ServiceId, Observation], tick: TickContext
    ) -> Execution | None:
        """Return the execution once its services may start; None while its prologue runs, or if it failed."""
        if Mark.OPENED not in execution.marks:
            if self._runner is None or not self._runner.programs or _has_begun(execution, observations):
                return execution
            programs = self._runner.programs
            kinds = {kind.value: kind in programs for kind in AttemptProgramKind}
            event = ev.AttemptOpened(at_s=tick.now_s, cause_id=tick.plan_id, **kinds)
            opened = self._cache.append(execution, [event])
            if opened is None:
                return None
            execution = opened
        return execution if not awaits_prologue(execution) else self._after_prologue(execution, tick)

    def finish(self, tick: TickContext) -> None:
        """Let stopping executions end: after their prologue, if it still runs, and their epilogue."""
        for execution in self._cache.moving():
            if execution.state is not ExecutionState.STOPPING or any(s.alive for s in execution.services):
                continue
            stopped: Execution | None = execution
            if awaits_prologue(execution):
                stopped = self._after_prologue(execution, tick)
            if stopped is not None and Mark.EPILOGUE_DUE in stopped.marks and not awaits_prologue(stopped):
                self._after_epilogue(stopped, tick)

    def _after_prologue(self, execution: Execution, tick: TickContext) -> Execution | None:
        """Return the execution after its prologue succeeded, or after it ended while the execution stops."""
        stopping = execution.state is ExecutionState.STOPPING
        end = self._end(execution, AttemptProgramKind.PROLOGUE, may_begin=not stopping)
        if end is None:
            return None
        ended = ev.PrologueEnded(at_s=tick.now_s, cause_id=tick.plan_id, exit_code=end.exit_code, output=end.output)
        failed = [] if stopping or end.exit_code == 0 else list(_failure(execution, end, tick))
        stored = self._append(execution, [ended, *failed], tick)
        return None if failed else stored

    def _after_epilogue(self, execution: Execution, tick: TickContext) -> None:
        end = self._end(execution, AttemptProgramKind.EPILOGUE)
        if end is not None:
            event = ev.EpilogueEnded(at_s=tick.now_s, cause_id=tick.plan_id, exit_code=end.exit_code, output=end.output)
            self._append(execution, [event], tick)

    def _end(self, execution: Execution, kind: AttemptProgramKind, may_begin: bool = True) -> AttemptProgramEnd | None:
        call = AttemptProgramCall(kind, execution.id, execution.attempt)
        if self._runner is None or not self._runner.is_set(kind):
            return AttemptProgramEnd(0, _NOT_SET)
        if not may_begin and not self._runner.is_begun(call):
            return AttemptProgramEnd(None, _UNKNOWN)
        return self._runner.result(call, variables_of(execution, kind))

    def _append(self, execution: Execution, events: list[ev.Event], tick: TickContext) -> Execution | None:
        """Journal the end of a program, with what follows; then its result is not needed any more."""
        after = self._cache.execution_after(execution, events)
        if after is not None and after.state is ExecutionState.STOPPING:
            events += settle(after, tick.now_s, self._cache.policy, tick.plan_id)[1]
        stored = self._cache.append(execution, events)
        if stored is not None and self._runner is not None:
            kind = (
                AttemptProgramKind.PROLOGUE if isinstance(events[0], ev.PrologueEnded) else AttemptProgramKind.EPILOGUE
            )
            self._runner.forget(AttemptProgramCall(kind, execution.id, execution.attempt))
        return stored


def variables_of(execution: Execution, kind: AttemptProgramKind) -> dict[str, str]:
    """Return the environment of a program for this attempt."""
    nodes = sorted({service.node for service in execution.current() if service.node is not None})
    found = {
        "ZOE_PROGRAM": kind.value,
        "ZOE_EXECUTION_ID": execution.id,
        "ZOE_EXECUTION_NAME": execution.name,
        "ZOE_APPLICATION": execution.application.name,
        "ZOE_TENANT": execution.tenant,
        "ZOE_USER": execution.user,
        "ZOE_ATTEMPT": str(execution.attempt),
        "ZOE_NODES": ",".join(nodes),
    }
    if kind is AttemptProgramKind.EPILOGUE:
        found["ZOE_OUTCOME"] = "" if execution.outcome is None else execution.outcome.value
        found["ZOE_CAUSE"] = "" if execution.cause is None else execution.cause.value
        found["ZOE_EXIT_CODE"] = "" if execution.exit_code is None else str(execution.exit_code)
    return found


def _has_begun(execution: Execution, observations: Mapping[ServiceId, Observation]) -> bool:
    """Return whether a service of this attempt was started before: then it has no programs."""
    return execution.state is not ExecutionState.STARTING or any(
        service.started_at_s is not None or service.id in observations for service in execution.current()
    )


def _failure(execution: Execution, end: AttemptProgramEnd, tick: TickContext) -> Iterator[ev.Event]:
    """Yield the end of the attempt, and those of its services, none of which was handed to the back-end."""
    how = "" if end.exit_code is None else f" with exit code {end.exit_code}"
    yield ev.Stopping(
        at_s=tick.now_s,
        cause_id=tick.plan_id,
        outcome=Outcome.FAILED,
        cause=Cause.PROLOGUE_FAILED,
        message=f"the prologue failed{how}" + (f": {end.output[-_MESSAGE_CHARACTERS_MAX:]}" if end.output else ""),
    )
    for service in execution.services:
        if service.state is ServiceState.STARTING:
            yield ev.ServiceEnded(
                at_s=tick.now_s,
                cause_id=tick.plan_id,
                service_id=service.id,
                cause=Cause.STOPPED,
                message="never started",
            )
