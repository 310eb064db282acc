"""Prologues, epilogues and own credentials in a replay: they begin and end as recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from zoe_lib.clock import Clock
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.store.values import JournalEntry
from zoe_master.loop.attempt_programs import AttemptProgramCall, AttemptProgramEnd, AttemptProgramKind
from zoe_master.storage.own_credentials import OwnCredentials
from zoe_simulator.history_replay.recording import Moment, to_event

_OK = AttemptProgramEnd(0, "")
_ENDS = {ev.PrologueEnded: AttemptProgramKind.PROLOGUE, ev.EpilogueEnded: AttemptProgramKind.EPILOGUE}


class RecordedPrograms:
    """A `ProgramRunner`. `moment`: the recorded tick that is replayed; None once something has changed.

    After a change, programs are those of the last recorded attempt, and take as long as they did; programs without
    a record take no time.
    """

    def __init__(self, moments: Sequence[Moment], clock: Clock) -> None:
        self.moment: Moment | None = None
        self._clock = clock
        self._set: Mapping[AttemptProgramKind, str] = {}
        self._took_s = dict(_durations(moments))
        self._begun: dict[AttemptProgramCall, float] = {}

    @property
    def programs(self) -> Mapping[AttemptProgramKind, str]:
        """Return the programs of the attempts that this tick opened."""
        if self.moment is not None:
            opened = [event for event in _events(self.moment.wrote) if isinstance(event, ev.AttemptOpened)]
            if not opened:
                return {}
            wanted = {AttemptProgramKind.PROLOGUE: opened[0].prologue, AttemptProgramKind.EPILOGUE: opened[0].epilogue}
            self._set = {kind: "recorded" for kind, there in wanted.items() if there}
        return self._set

    def is_set(self, kind: AttemptProgramKind) -> bool:  # noqa: ARG002
        """Return True: all ends are recorded."""
        return True

    def result(self, call: AttemptProgramCall, variables: Mapping[str, str]) -> AttemptProgramEnd | None:  # noqa: ARG002
        """Return the recorded end, at the tick that saw it."""
        if self.moment is not None:
            return next((end for name, kind, end in _ends(self.moment.wrote) if (name, kind) == _key(call)), None)
        took_s, end = self._took_s.get(_key(call), (0.0, _OK))
        begun_s = self._begun.setdefault(call, self._clock.now_s())
        return end if self._clock.now_s() >= begun_s + took_s else None

    def is_begun(self, call: AttemptProgramCall) -> bool:  # noqa: ARG002
        """Return True: the recorded end says the rest."""
        return True

    def forget(self, call: AttemptProgramCall) -> None:
        """Drop the begin of a program."""
        self._begun.pop(call, None)

    def next_change_s(self) -> float | None:
        """Return when the next program ends after a change; None without one."""
        times = (at_s + self._took_s.get(_key(call), (0.0, _OK))[0] for call, at_s in self._begun.items())
        return min((at_s for at_s in times if at_s > self._clock.now_s()), default=None)


class RecordedCredentials(OwnCredentials):
    """Own credentials of executions, as far as the journal shows them: a later entry of the attempt says that its
    services waited until then.
    """

    def __init__(self, before: Iterable[JournalEntry], moments: Sequence[Moment]) -> None:
        super().__init__(lambda _: False, enabled=False)
        self.tick: int | None = -1
        """Number of the recorded tick that is replayed; None once something has changed."""
        requeued = Counter(entry.execution_id for entry in before if entry.kind == ev.Requeued.kind)
        self._handed: dict[tuple[ExecutionId | None, int], int] = {}
        self._gave_up: dict[tuple[ExecutionId | None, int], int] = {}
        for number, moment in enumerate(moments):
            for entry in moment.wrote:
                attempt = entry.execution_id, 1 + requeued[entry.execution_id]
                if entry.kind in (ev.AttemptOpened.kind, ev.TenantCredentialUsed.kind):
                    self._handed.setdefault(attempt, number)
                if entry.kind == ev.TenantCredentialUsed.kind:
                    self._gave_up[attempt] = number
                requeued[entry.execution_id] += entry.kind == ev.Requeued.kind

    def is_awaited(self, execution: Execution, now_s: float, patience_s: float) -> bool:  # noqa: ARG002
        """Return whether its services were started later."""
        handed = self._handed.get((execution.id, execution.attempt))
        return self.tick is not None and handed is not None and handed > self.tick

    def gave_up(self, execution: Execution) -> bool:
        """Return whether its services got the tenant's credential."""
        return self.tick is not None and self._gave_up.get((execution.id, execution.attempt)) == self.tick


def _key(call: AttemptProgramCall) -> tuple[ExecutionId, AttemptProgramKind]:
    return call.execution_id, call.kind


def _events(entries: Iterable[JournalEntry]) -> Iterable[ev.Event]:
    kinds = (ev.AttemptOpened.kind, ev.PrologueEnded.kind, ev.EpilogueEnded.kind)
    return (to_event(entry) for entry in entries if entry.kind in kinds)


def _ends(entries: Iterable[JournalEntry]) -> Iterable[tuple[ExecutionId, AttemptProgramKind, AttemptProgramEnd]]:
    for entry in entries:
        if entry.kind in (ev.PrologueEnded.kind, ev.EpilogueEnded.kind):
            event = to_event(entry)
            assert isinstance(event, ev.PrologueEnded | ev.EpilogueEnded)
            yield entry.execution_id or "", _ENDS[type(event)], AttemptProgramEnd(event.exit_code, event.output)


def _durations(
    moments: Sequence[Moment],
) -> Iterable[tuple[tuple[ExecutionId, AttemptProgramKind], tuple[float, AttemptProgramEnd]]]:
    """Yield how long each program took: a prologue since its attempt was opened, an epilogue since the last service
    ended. The last attempt counts.
    """
    since_s: dict[tuple[ExecutionId, AttemptProgramKind], float] = {}
    for moment in moments:
        for entry in moment.wrote:
            name = entry.execution_id or ""
            if entry.kind == ev.AttemptOpened.kind:
                since_s[name, AttemptProgramKind.PROLOGUE] = entry.at_s
            elif entry.kind == ev.ServiceEnded.kind:
                since_s[name, AttemptProgramKind.EPILOGUE] = moment.at_s
        for name, kind, end in _ends(moment.wrote):
            yield (name, kind), (max(moment.at_s - since_s.get((name, kind), moment.at_s), 0.0), end)
