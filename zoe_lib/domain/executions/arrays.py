"""Arrays: one description that runs once for each of many indices; the queue makes executions from the indices as it
takes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TypeVar

from zoe_client.vocabulary import DependencyKind, ExecutionState, Holder, IndexState, TextEnum
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.applications.entries import Entry, EntryList, EntryUse, text_of, use_of
from zoe_lib.domain.applications.entry_reading import ListRefused
from zoe_lib.domain.applications.templates import with_entry, with_index
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.indices import IndexSet, first_indices
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency
from zoe_lib.domain.values.frozen import changed, value

T = TypeVar("T")
ArrayId = str
INDEX_STATES = tuple(IndexState)
"""The states of an index; the store keeps the position in this list."""
CODES: Mapping[IndexState, int] = {state: code for code, state in enumerate(INDEX_STATES)}
WAITING, ACTIVE = CODES[IndexState.WAITING], CODES[IndexState.ACTIVE]
RUNS_MAX = 1000
"""Maximum reruns of an array's indices."""
PLANNED_TOGETHER_MAX = 1000
"""Maximum indices of an array of which a plan says whether they would start now."""
_AGAIN = (IndexState.FAILED, IndexState.CANCELLED)
_FURTHEST = (ExecutionState.RUNNING, ExecutionState.STARTING, ExecutionState.STOPPING)
_ID = re.compile(r"a[0-9a-z]{14}")
_MEMBER = re.compile(r"(a[0-9a-z]{14})_([0-9]{1,9})(?:r([0-9]{1,4}))?")
_VARIABLES = ("ID", "INDEX", "SIZE", "MIN", "MAX", "STEP")
_PREFIX = "ZOE_ARRAY_"


class ArrayEventKind(TextEnum):
    """Entries of the journal about whole arrays. Their executions have the entries of all executions."""

    SUBMITTED = "array_submitted"
    HELD = "array_held"
    RELEASED = "array_released"
    MODIFIED = "array_modified"
    CANCELLED = "array_cancelled"
    AGAIN = "array_requeued"
    DEPENDENCY = "array_dependency_ended"
    OWNER = "array_owner_changed"
    ACCEPTED = "array_accepted"
    DEADLINE_MISSED = "array_deadline_missed"
    LISTED = "array_listed"
    LIST_REFUSED = "array_list_refused"
    ENDED = "array_ended"


@value(frozen=True, slots=True)
class Array:
    """One description and the indices for which it runs.
    at_once: maximum of active executions, None without a limit. conditions: conditions on all indices. corr: arrays of
    which the same index must succeed first. run: number of the run, from 1.
    counts: number of indices by state. late_count: number of indices without an execution when the deadline passed;
    None: it has not passed, or all had one. version: counts changes by users and by the end, not those of indices.
    entries: the list with an entry for each index; None for arrays of indices alone. Until the list has been read, one
    index stands for all, so that the array can be held, cancelled and fail like any other.
    """

    id: ArrayId
    name: str
    tenant: str
    user: str
    application: Application
    submitted_at_s: float
    indices: IndexSet
    at_once: int | None = None
    priority: int = 0
    deadline_s: float | None = None
    conditions: Conditions = NO_CONDITIONS
    corr: tuple[ArrayId, ...] = ()
    notes: tuple[str, ...] = ()
    version: int = 1
    run: int = 1
    ended_at_s: float | None = None
    message: str = ""
    late_count: int | None = None
    counts: Mapping[IndexState, int] = field(default_factory=dict)
    entries: EntryList | None = None

    def count(self, state: IndexState) -> int:
        """Return the number of indices in that state."""
        return self.counts.get(state, 0)

    @property
    def open_count(self) -> int:
        """Return the number of indices that have not ended."""
        return self.count(IndexState.WAITING) + self.count(IndexState.ACTIVE)

    @property
    def times_s(self) -> tuple[float, ...]:
        """Return the times at which waiting indices may change state, in seconds since the epoch."""
        return self.conditions.times_s

    @property
    def state(self) -> ExecutionState:
        """Return the state of the whole array without that of its executions: queued, while some have not ended."""
        return state_of(self.counts, {})


def state_of(counts: Mapping[IndexState, int], active: Mapping[ExecutionState, int]) -> ExecutionState:
    """Return the state of an array: submitted before its first execution, also if indices were cancelled; then running,
    starting or stopping if one of its executions is, else queued; and how it ended. counts: number of indices by state.
    active: number of executions of active indices by state.
    """
    waiting = counts.get(IndexState.WAITING, 0)
    if waiting + counts.get(IndexState.ACTIVE, 0) == 0:
        if counts.get(IndexState.FAILED):
            return ExecutionState.FAILED
        return ExecutionState.CANCELLED if counts.get(IndexState.CANCELLED) else ExecutionState.SUCCEEDED
    if waiting + counts.get(IndexState.CANCELLED, 0) == sum(counts.values()):
        return ExecutionState.SUBMITTED
    return next((state for state in _FURTHEST if active.get(state)), ExecutionState.QUEUED)


@value(frozen=True, slots=True)
class Member:
    """The place of an execution in an array: its index, and the number of the run."""

    array_id: ArrayId
    index: int
    run: int = 1


def member_of(execution_id: ExecutionId) -> Member | None:
    """Return the place in an array from an execution's id; None if it belongs to no array."""
    found = _MEMBER.fullmatch(execution_id) if execution_id.startswith("a") else None
    return None if found is None else Member(found[1], int(found[2]), int(found[3] or 1))


def is_array(text: str) -> bool:
    """Return whether a text has the form of an array's id."""
    return _ID.fullmatch(text) is not None


def member_id(array_id: ArrayId, index: int, run: int = 1) -> ExecutionId:
    """Return the id of the execution for an index: `ARRAY_INDEX`, and `ARRAY_INDEXrRUN` when it runs again."""
    return f"{array_id}_{index}" + (f"r{run}" if run > 1 else "")


def requests_joint_promise(array: Array) -> bool:
    """Return whether all its indices request one promise together. A further run has no promise: that of the first run
    was for all of them.
    """
    return array.application.promise is not None and array.deadline_s is not None and array.run == 1


def awaits_list(array: Array) -> bool:
    """Return whether its list of entries has not been read yet."""
    return array.entries is not None and array.entries.count is None and array.open_count > 0


def can_read_list(array: Array, now_s: float) -> bool:
    """Return whether its list may be read: its dependencies have ended, and no other condition keeps it from
    running.
    """
    return awaits_list(array) and array.conditions.are_met(now_s)


def can_make_executions(array: Array, now_s: float) -> bool:
    """Return whether its indices may become executions. Indices with a joint promise need not wait for their begin
    time, since that is a part of the promise.
    """
    if awaits_list(array):
        return False
    return array.conditions.met_but_for_time if requests_joint_promise(array) else array.conditions.are_met(now_s)


def execution_of(
    array: Array, position: int, now_s: float, corr: tuple[Dependency, ...] = (), entry: Entry | None = None
) -> Execution:
    """Return a new execution for the index at a position; `corr`: its dependencies on indices of other arrays; `entry`:
    for an array that runs for a list.
    """
    index = array.indices.index_at(position)
    conditions = Conditions(after=corr, keep=array.conditions.keep) if corr else NO_CONDITIONS
    if array.conditions.end_by_s is not None:
        conditions = changed(conditions, end_by_s=array.conditions.end_by_s)
    if requests_joint_promise(array):
        conditions = _conditions_in_whole(array, position)
    return Execution(
        id=member_id(array.id, index, array.run),
        name=array.name,
        tenant=array.tenant,
        user=array.user,
        application=application_of(array, index, entry),
        submitted_at_s=now_s,
        priority=array.priority,
        deadline_s=array.deadline_s,
        notes=array.notes,
        conditions=conditions,
    )


def _conditions_in_whole(array: Array, position: int) -> Conditions:
    """Return the conditions of an index with a joint promise. With at most k at once there are k lanes: in each, an
    index runs after its predecessor in the lane, however that ends.
    """
    count, lanes = array.indices.count, array.at_once
    after: tuple[Dependency, ...] = ()
    if lanes is not None and position >= lanes:
        after = (Dependency(DependencyKind.ANY, member_id(array.id, array.indices.index_at(position - lanes))),)
    whole = array.id if count > 1 else ""
    return Conditions(begin_at_s=array.conditions.begin_at_s, after=after, whole=whole, members=count)


def application_of(array: Array, index: int, entry: Entry | None = None) -> Application:
    """Return the application for an index: `{index}` and the entry are filled in, and services get their place in
    variables.
    """
    numbers = array.indices
    places = (array.id, index, numbers.count, numbers.lowest, numbers.highest, numbers.step)
    variables = tuple((_PREFIX + name, str(place)) for name, place in zip(_VARIABLES, places, strict=True))
    application = array.application
    return replace(
        application,
        promise=application.promise if requests_joint_promise(array) else None,
        components=tuple(_component_of(component, index, variables, entry) for component in application.components),
        results=tuple(result.replace("{index}", str(index)) for result in application.results),
    )


def _component_of(
    component: Component, index: int, variables: tuple[tuple[str, str], ...], entry: Entry | None
) -> Component:
    def fill_in(text: str) -> str:
        return with_index(text if entry is None else with_entry(text, partial(_entry_text, entry)), index)

    own = tuple((name, fill_in(text)) for name, text in component.environment)
    return replace(
        component,
        command=tuple(map(fill_in, component.command)),
        work_dir=None if component.work_dir is None else fill_in(component.work_dir),
        environment=tuple(sorted({**dict(own), **dict(variables)}.items())),
    )


def _entry_text(entry: Entry, name: str | None) -> str:
    """Return an entry, or one of its fields, as text. Reading the list has checked that the field exists."""
    if isinstance(entry, Mapping):
        return text_of(entry[name or ""])
    return text_of(entry)


def use_of_entries(application: Application) -> EntryUse:
    """Return the use of list entries in an application."""
    return use_of(
        text
        for component in application.components
        for text in (*component.command, *(text for _, text in component.environment), component.work_dir or "")
    )


def count_by_state(states: bytes | bytearray) -> Mapping[IndexState, int]:
    """Return the number of indices by state."""
    return {state: number for state, code in CODES.items() if (number := states.count(code))}


# Changes to a whole array: each returns the changed array, and changes the states of its indices.


def hold(array: Array, by: Holder) -> Array:
    """Return the array on hold, so that no more executions are made; an operator's hold stays one."""
    if array.conditions.held in (Holder.OPERATOR, by):
        return array
    return changed(array, conditions=changed(array.conditions, held=by))


def release(array: Array) -> Array:
    """Return the array without a hold; dependencies that can no longer be met are dropped."""
    after = tuple(dependency for dependency in array.conditions.after if dependency.met is not False)
    return changed(array, conditions=changed(array.conditions, held=None, after=after))


def with_promise(array: Array, finish_s: float) -> Array:
    """Return the array after its user accepted an offer for all of its indices: its deadline is that of the promise."""
    if array.deadline_s == finish_s:
        return array
    return changed(array, deadline_s=finish_s, late_count=None)


def with_all_waiting(array: Array, states: bytes) -> tuple[Array, bytes]:
    """Return an array and the states of its indices as users see them before any may begin: their executions exist for
    the decision on the promise, but all of them wait for it, for an answer to its offers, or for a time.
    """
    counts = _moved_counts(array.counts, IndexState.ACTIVE, IndexState.WAITING, array.count(IndexState.ACTIVE))
    return changed(array, counts=counts), states.translate(_mapping(IndexState.ACTIVE, into=IndexState.WAITING))


def cancel(array: Array, states: bytearray, user: str, only: IndexSet | None = None) -> Array:
    """Return the array with its waiting indices cancelled, or `only` those of them; indices in other states are
    skipped.
    """
    if only is None:
        return _close_waiting(array, states, IndexState.CANCELLED, f"cancelled by {user}")
    waiting, cancelled = CODES[IndexState.WAITING], CODES[IndexState.CANCELLED]
    places = [place for index in only if (place := array.indices.position(index)) is not None]
    if not (found := [place for place in places if states[place] == waiting]):
        return array
    for place in found:
        states[place] = cancelled
    return changed(array, counts=count_by_state(states))


def fail(array: Array, states: bytearray, why: str) -> Array:
    """Return the array with its waiting indices failed, since they can never run."""
    return _close_waiting(array, states, IndexState.FAILED, why)


def _close_waiting(array: Array, states: bytearray, into: IndexState, message: str) -> Array:
    if not array.count(IndexState.WAITING):
        return array
    states[:] = states.translate(_mapping(IndexState.WAITING, into=into))
    return changed(array, message=message, counts=count_by_state(states))


def with_entries(array: Array, count: int) -> Array:
    """Return the array after its list was read: it has that many waiting indices; with none, it has succeeded.
    Unchanged if it does not await its list.
    """
    if array.entries is None or not awaits_list(array):
        return array
    entries = changed(array.entries, count=count, problem=None, hint="")
    counts = {IndexState.WAITING: count} if count else {}
    return changed(array, entries=entries, indices=first_indices(count), counts=counts, late_count=None)


def list_refused(array: Array, states: bytearray, why: ListRefused) -> Array:
    """Return the array failed, because its list cannot be used; unchanged if it does not await its list."""
    if array.entries is None or not awaits_list(array):
        return array
    failed = fail(array, states, str(why))
    return changed(failed, entries=changed(array.entries, problem=why.problem, hint=why.hint))


def missed_deadline(array: Array, now_s: float) -> Array:
    """Return the array after its deadline has passed for waiting indices; unchanged if there are none, or if this was
    recorded already. The other indices' executions record it themselves.
    """
    late = array.count(IndexState.WAITING)
    if array.deadline_s is None or now_s < array.deadline_s or array.late_count is not None or not late:
        return array
    return changed(array, late_count=late)


def again(array: Array, states: bytearray) -> Array:
    """Return the array with its failed and cancelled indices waiting again. Its begin time, and dependencies that have
    not ended, still count.
    """
    if not any(array.count(state) for state in _AGAIN):
        return array
    states[:] = states.translate(_mapping(*_AGAIN, into=IndexState.WAITING))
    awaited = () if array.conditions.dependencies_met else tuple(array.conditions.undecided_dependencies)
    entries = None if array.entries is None else changed(array.entries, problem=None, hint="")
    return changed(
        array,
        run=array.run + 1,
        message="",
        ended_at_s=None,
        conditions=changed(array.conditions, after=awaited, end_by_s=None),
        counts=count_by_state(states),
        entries=entries,
    )


def _mapping(*states: IndexState, into: IndexState) -> bytes:
    codes = {CODES[state] for state in states}
    return bytes(CODES[into] if code in codes else code for code in range(256))


def corr_dependency(on: ExecutionId, code: int) -> Dependency | None:
    """Return the dependency of an index on the same index of another array in that state; None: it has succeeded."""
    if code == CODES[IndexState.SUCCEEDED]:
        return None
    return Dependency(DependencyKind.OK, on, met=None if code == ACTIVE else False)


def fresh(array: Array, application: Application, notes: Sequence[str]) -> Array:
    """Return a new array as it is stored: all its indices wait."""
    counts = {IndexState.WAITING: array.indices.count}
    return changed(array, application=application, notes=(*array.notes, *notes), counts=counts)


def with_end_time(array: Array, at_s: float) -> Array:
    """Return the array with the time of its end, if its last index has ended and it has no end time yet."""
    return array if array.open_count or array.ended_at_s is not None else changed(array, ended_at_s=at_s)


def admit_wanted(array: Array, wanted: Sequence[T], room: int | None) -> Sequence[T]:
    """Return as many of the wanted indices as there is room for; None: any number. For a joint promise, all or none."""
    if room is None or room >= len(wanted):
        return wanted
    return () if requests_joint_promise(array) else wanted[:room]


def with_executions(array: Array, states: bytearray, positions: list[int]) -> Array:
    """Return the array after executions were made for the waiting indices at these positions."""
    for position in positions:
        states[position] = ACTIVE
    return changed(array, counts=_moved_counts(array.counts, IndexState.WAITING, IndexState.ACTIVE, len(positions)))


def index_ended(array: Array, states: bytearray, execution: Execution) -> Array:
    """Return the array after the execution of an index has ended; unchanged if the index is not active."""
    member = member_of(execution.id)
    position = None if member is None else array.indices.position(member.index)
    if position is None or states[position] != ACTIVE:
        return array
    state = IndexState(execution.state.value)
    states[position] = CODES[state]
    return changed(array, counts=_moved_counts(array.counts, IndexState.ACTIVE, state, 1))


def _moved_counts(
    counts: Mapping[IndexState, int], before: IndexState, after: IndexState, number: int
) -> dict[IndexState, int]:
    moved = {**counts, before: counts.get(before, 0) - number, after: counts.get(after, 0) + number}
    return {state: count for state, count in moved.items() if count}
