"""Read the recording between two times from a store: the state at the start, and then tick by tick."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from zoe_client.documents.shortening import shortened_list
from zoe_lib.domain.applications.application import with_counts, with_memory
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.arrays import ArrayEventKind
from zoe_lib.domain.executions.events import (
    Event,
    Forecasted,
    Modified,
    OwnerChanged,
    Promised,
    Requeued,
    Scaled,
    Submitted,
)
from zoe_lib.domain.executions.execution import TERMINAL_STATES, Execution, ExecutionId, ServiceId
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.conditions import NO_CONDITIONS
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import decode, event_of
from zoe_lib.store.values import ExecutionQuery, JournalEntry, TickRecord
from zoe_master.loop.tick_recorder import FORMAT, Inputs, format_of, inputs_after
from zoe_simulator.history_replay.arrays import RecordedArrays, read_arrays
from zoe_simulator.history_replay.kinds import ARRAYS, POLICY_SET, PROMISES, RESTORED, from_others, unknown_kinds
from zoe_simulator.history_replay.services import ServiceRecord, records_of

_PAGE = 500
# Ended executions that a master reads when it takes the lead.
_ENDED_BEFORE_MAX = 2_000
# No tenant has this name, so the journal returns only the entries of the installation.
_NOBODY = "-"
_NAMED_MAX = 5
_CHANGE_WHAT_IS_ASKED = frozenset(kind.kind for kind in (Submitted, Modified, Promised, Scaled, Requeued, OwnerChanged))


class ReplayRefusedError(Exception):
    """That time cannot be replayed; the message says why."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A tick: its inputs, foreign entries since the previous tick, and its own entries.

    `raced`: the foreign entries that the next tick read; some may have come while this one decided and wrote.
    `cut_short`: its master died before the end.
    """

    at_s: float
    epoch: int
    inputs: Inputs
    news: tuple[JournalEntry, ...]
    wrote: tuple[JournalEntry, ...]
    cut_short: bool = False
    raced: tuple[JournalEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """Executions as they were at the begin (`present`) or had ended before (`ended`), and everything that followed.

    `fresh` has every execution as submitted; `before` has the events until the begin. `epoch`: of the master that led
    then; None if the replay begins with the first tick of one. `prices`: the price lists.
    """

    from_s: float
    to_s: float
    policy: Policy
    inputs: Inputs
    ended: tuple[Execution, ...]
    present: tuple[Execution, ...]
    fresh: Mapping[ExecutionId, Execution]
    before: tuple[JournalEntry, ...]
    moments: tuple[Moment, ...]
    services: Mapping[ServiceId, ServiceRecord] = field(default_factory=dict)
    arrays: RecordedArrays = field(default_factory=RecordedArrays)
    epoch: int | None = None
    prices: Sequence[PriceList] = ()


def read_recording(store: ExecutionStore, from_s: float, to_s: float, prices: Sequence[PriceList] = ()) -> Recording:
    """Return everything that a replay of this time needs. Raises ReplayRefusedError if it is not stored, or no
    longer, or if another version of Zoe wrote what this one cannot replay.
    """
    ticks = _ticks(store, from_s, to_s)
    executions = list(_pages(store, ExecutionQuery(submitted_to_s=to_s, ended_from_s=from_s, limit=_PAGE)))
    entries = sorted((e for x in executions for e in _journal(store, x.id)), key=lambda entry: entry.id)
    facts = list(_journal(store, None))
    split = _Split(ticks, from_s, to_s)
    arrays, of_arrays = read_arrays(store, from_s, to_s, split.is_before)
    in_time = [entry for entry in (*entries, *facts, *of_arrays) if entry.at_s <= to_s]
    _check_known(in_time, [entry for entry in in_time if not split.is_before(entry)], ticks)
    moments = split.moments([*entries, *facts, *of_arrays])
    before = tuple(entry for entry in entries if split.is_before(entry))
    fresh = _first_asked({x.id: as_submitted(x) for x in executions}, entries)
    present = [x for x in _states(fresh, before) if not x.terminal]
    policies = [decode(Policy, fact.data) for fact in facts if split.is_before(fact) and fact.kind == POLICY_SET]
    return Recording(
        from_s=from_s,
        to_s=to_s,
        policy=policies[-1] if policies else Policy(),
        inputs=split.inputs,
        ended=tuple(_ended_before(store, from_s)),
        present=tuple(present),
        fresh=fresh,
        before=before,
        moments=moments,
        services=records_of(fresh, before, [(m.at_s, m.wrote) for m in moments]),
        arrays=arrays,
        epoch=split.epoch,
        prices=prices,
    )


def _check_known(entries: Sequence[JournalEntry], later: Sequence[JournalEntry], ticks: Sequence[TickRecord]) -> None:
    """Raise ReplayRefusedError, naming the entry that cannot be replayed. `later`: entries since the begin."""
    if unknown := unknown_kinds(entries):
        names = shortened_list(unknown, _NAMED_MAX)
        raise ReplayRefusedError(f"this version of Zoe cannot replay the kinds of entries: {names}")
    restored = next((entry for entry in later if entry.kind == RESTORED), None)
    if restored is not None:
        raise ReplayRefusedError(
            f"the installation was restored from a backup at {_date(restored.at_s)}; end before, or begin later"
        )
    formats = {format_of(tick) for tick in ticks if tick.whole}
    if newer := [number for number in formats if number > FORMAT]:
        raise ReplayRefusedError(f"the records have format {max(newer)}; this version of Zoe replays up to {FORMAT}")
    if min(formats, default=FORMAT) >= FORMAT:
        return
    if left_out := sorted({entry.kind for entry in entries} & (ARRAYS | PROMISES)):
        first_s = next((tick.at_s for tick in ticks if tick.whole and format_of(tick) == FORMAT), None)
        later_on = "from the next day on" if first_s is None else f"from {_date(first_s)} on"
        names = shortened_list(left_out, _NAMED_MAX)
        raise ReplayRefusedError(
            f"an earlier version of Zoe did not record all that a replay of these entries needs: {names}; "
            f"times {later_on} can be replayed"
        )


def to_event(entry: JournalEntry) -> Event:
    """Return the event of an execution's entry."""
    return event_of(entry.kind, entry.at_s, entry.cause_id, entry.data)


def as_submitted(execution: Execution) -> Execution:
    """Return the execution in its state at submission."""
    fresh = Execution(
        id=execution.id,
        name=execution.name,
        tenant=execution.tenant,
        user=execution.user,
        application=execution.application,
        submitted_at_s=execution.submitted_at_s,
        priority=execution.priority,
        deadline_s=execution.deadline_s,
    )
    return replace(fresh, notes=execution.notes)


def _first_asked(
    fresh: Mapping[ExecutionId, Execution], entries: Sequence[JournalEntry]
) -> dict[ExecutionId, Execution]:
    """Return the executions as first submitted: their rows have later changes, and the state of their conditions."""
    asked = dict(fresh)
    for entry in reversed(entries):
        if entry.execution_id is not None and entry.kind in _CHANGE_WHAT_IS_ASKED:
            asked[entry.execution_id] = _undone(asked[entry.execution_id], to_event(entry))
    return asked


def _undone(execution: Execution, event: Event) -> Execution:
    match event:
        case Submitted():
            return replace(execution, conditions=event.conditions or NO_CONDITIONS)
        case Modified(before=before):
            priority, deadline_s = before.priority, before.deadline_s
            return replace(execution, application=before.application, priority=priority, deadline_s=deadline_s)
        case Scaled():
            return replace(execution, application=with_counts(execution.application, event.before))
        case OwnerChanged():
            return replace(execution, user=event.former)
        case Requeued():
            return replace(execution, application=with_memory(execution.application, event.memory_before))
    return _before_promise(execution, event) if isinstance(event, Promised) else execution


def _before_promise(execution: Execution, event: Promised) -> Execution:
    """Return the execution with the time and the bandwidth that it had requested."""
    application, storage = execution.application, execution.application.storage
    if storage is not None:
        application = replace(application, storage=replace(storage, bandwidth=event.bandwidth_before))
    return replace(execution, application=application, deadline_s=event.deadline_before_s or execution.deadline_s)


class _Split:
    """Assigns entries of the journal to the tick that wrote them, or that saw them first."""

    def __init__(self, ticks: Sequence[TickRecord], from_s: float, to_s: float) -> None:
        self._from_s = from_s
        self._to_s = to_s
        self._ticks: list[tuple[TickRecord, Inputs]] = []
        self.inputs = Inputs()
        self._read_to = 0
        self.epoch: int | None = None
        inputs = Inputs()
        for tick in ticks:
            inputs = inputs_after(inputs, tick)
            if tick.at_s < from_s:
                self.inputs, self._read_to, self.epoch = inputs, tick.read_to, tick.epoch
            else:
                self._ticks.append((tick, inputs))
        self._plans = {tick.plan_id for tick, _ in self._ticks}

    def is_before(self, entry: JournalEntry) -> bool:
        """Return whether the entry belongs to the state at the begin."""
        if from_others(entry):
            return entry.id <= self._read_to if self._read_to else entry.at_s < self._from_s
        return entry.cause_id not in self._plans and entry.at_s < self._from_s

    def moments(self, entries: Iterable[JournalEntry]) -> tuple[Moment, ...]:
        """Return every tick from the start on, including those whose master died before it could write its record."""
        entries = (e for e in entries if e.kind != ArrayEventKind.ENDED)  # it follows from others
        later = sorted((e for e in entries if not self.is_before(e)), key=lambda entry: entry.id)
        wrote: dict[str, list[JournalEntry]] = {}
        for entry in later:
            if not from_others(entry) and entry.kind != Forecasted.kind:
                wrote.setdefault(entry.cause_id, []).append(entry)
        news = [entry for entry in later if from_others(entry)]
        ticks = [*self._ticks, *(self._unfinished_tick(plan, wrote[plan]) for plan in wrote.keys() - self._plans)]
        result = []
        for tick, inputs in sorted(ticks, key=lambda item: (item[0].at_s, item[0].read_to)):
            if tick.at_s > self._to_s:
                break
            seen = tuple(record for record in news if record.id <= tick.read_to)
            news = news[len(seen) :]
            written = tuple(wrote.get(tick.plan_id, ()))
            result.append(Moment(tick.at_s, tick.epoch, inputs, seen, written, tick.plan_id not in self._plans))
        nexts = (*(moment.news for moment in result), tuple(news))[1:]
        return tuple(replace(moment, raced=later) for moment, later in zip(result, nexts, strict=True))

    def _unfinished_tick(self, plan_id: str, entries: Sequence[JournalEntry]) -> tuple[TickRecord, Inputs]:
        at_s = max(entry.at_s for entry in entries)
        earlier = [tick for tick in self._ticks if tick[0].read_to < entries[0].id]
        epoch, inputs = (earlier[-1][0].epoch, earlier[-1][1]) if earlier else (0, self.inputs)
        # It had read less than it wrote; the next master's first tick, at the same time, may have read that.
        return TickRecord(plan_id, at_s, epoch, entries[0].id - 1, False, {}), inputs


def _states(fresh: Mapping[ExecutionId, Execution], entries: Iterable[JournalEntry]) -> Iterable[Execution]:
    states: dict[ExecutionId, Execution] = {}
    for entry in entries:
        assert entry.execution_id is not None
        states[entry.execution_id] = apply(states.get(entry.execution_id, fresh[entry.execution_id]), to_event(entry))
    return states.values()


def _ticks(store: ExecutionStore, from_s: float, to_s: float) -> Sequence[TickRecord]:
    if to_s <= from_s:
        raise ReplayRefusedError(f"the start must be earlier than the end ({_date(to_s)}; now, if you give no end)")
    cut_s = store.cut_s()
    if from_s < cut_s:
        raise ReplayRefusedError(f"executions that ended before {_date(cut_s)} have been removed; begin then or later")
    ticks = store.ticks(from_s, to_s)
    if not ticks:
        first_s = store.ticks_from_s()
        hint = "there are no records yet" if first_s is None else f"begin at {_date(first_s)} or later"
        raise ReplayRefusedError(f"there is no record of a master's inputs for that time; {hint}")
    return ticks


def _date(at_s: float) -> str:
    return f"{datetime.fromtimestamp(math.ceil(at_s), UTC):%Y-%m-%d %H:%M:%S} UTC"


def _ended_before(store: ExecutionStore, from_s: float) -> Iterator[Execution]:
    query = ExecutionQuery(submitted_to_s=from_s, states=TERMINAL_STATES, limit=_PAGE)
    found = (x for x in _pages(store, query) if max(x.marks.values(), default=from_s) < from_s)
    for _, execution in zip(range(_ENDED_BEFORE_MAX), found, strict=False):
        yield execution


def _pages(store: ExecutionStore, query: ExecutionQuery) -> Iterator[Execution]:
    while True:
        page = store.executions(query)
        yield from page.executions
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


def _journal(store: ExecutionStore, execution_id: ExecutionId | None) -> Iterator[JournalEntry]:
    newest = 0
    visibility = Visibility(_NOBODY) if execution_id is None else ALL
    while entries := store.journal(newest, _PAGE, visibility, execution_id):
        newest = entries[-1].id
        yield from entries
