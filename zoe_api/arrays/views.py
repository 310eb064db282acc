"""Arrays as responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from zoe_api.access.representation import without_contents
from zoe_api.access.wire_forms import conditions_view, reason_view
from zoe_api.arrays.waiting import Active
from zoe_client.vocabulary import IndexState
from zoe_client.wire import ArraySummary, ArrayView, EntriesView, IndexView, WorkflowPromiseView
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.descriptions import to_document
from zoe_lib.domain.applications.entries import EntryList
from zoe_lib.domain.executions.arrays import CODES, INDEX_STATES, Array, state_of
from zoe_lib.domain.executions.execution import Cause, Execution
from zoe_lib.domain.executions.indices import indices_of
from zoe_lib.domain.values.conditions import Conditions, reason_of
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.store.values import ArrayRuns

_RANGES_LENGTH_MAX = 4000
NO_RUNS = ArrayRuns()


def array_summary(
    array: Array, active: Active, reason: Reason | None = None, runs: ArrayRuns = NO_RUNS
) -> ArraySummary:
    """Return an array as a row of a list; `reason`: why its indices wait."""
    return ArraySummary(**_summary(array, active, reason, runs))


def array_view(
    array: Array,
    states: bytes,
    active: Active,
    with_secrets: bool = True,
    promise: WorkflowPromiseView | None = None,
    reason: Reason | None = None,
    runs: ArrayRuns = NO_RUNS,
) -> ArrayView:
    """Return an array with its indices by state; without secrets, as `representation.view_of_execution` does with
    executions.
    """
    application, conditions = array.application, array.conditions
    if not with_secrets:
        application, conditions = without_contents(application), Conditions(conditions.held, conditions.begin_at_s)
    return ArrayView(
        **_summary(array, active, reason, runs),
        ranges=dict(_ranges(array, states)),
        conditions=conditions_view(conditions),
        corr=list(array.corr) if with_secrets else [],
        description=to_document(application),
        promise=promise,
    )


def indices_found(
    array: Array, states: bytes, wanted: frozenset[IndexState] | None, after: int | None, limit: int
) -> Sequence[tuple[int, IndexState]]:
    """Return the indices in these states (None: in any) after an index, in order."""
    codes = frozenset(CODES.values()) if wanted is None else {CODES[state] for state in wanted}
    least = -1 if after is None else after
    pairs = zip(array.indices, states, strict=True)
    found = ((index, INDEX_STATES[code]) for index, code in pairs if index > least and code in codes)
    return list(islice(found, limit))


def brief_text(found: Sequence[tuple[int, IndexState]], next_after: int | None) -> str:
    """Return an `IndexList` without executions as JSON: a model for each of ten thousand takes ten times as long."""
    texts = {state: f',"state":"{state.value}"}}' for state in INDEX_STATES}
    listed = ",".join([f'{{"index":{index}{texts[state]}' for index, state in found])
    return f'{{"indices":[{listed}],"next_after":{"null" if next_after is None else next_after}}}'


def with_execution(view: IndexView, execution: Execution | None) -> IndexView:
    """Return an index with its newest execution."""
    if execution is None:
        return view
    return view.model_copy(
        update={
            "execution_id": execution.id,
            "execution_state": execution.state,
            "exit_code": execution.exit_code,
            "cause": execution.cause,
            "message": execution.message,
        }
    )


def _summary(
    array: Array, active: Active, reason: Reason | None, runs: ArrayRuns, clock: Clock = SYSTEM_CLOCK
) -> Mapping[str, Any]:
    if array.ended_at_s is None:
        reason = reason or reason_of(array.conditions, clock.now_s())
    return {
        "id": array.id,
        "name": array.name,
        "application": array.application.name,
        "tenant": array.tenant,
        "user": array.user,
        "state": state_of(array.counts, active),
        "version": array.version,
        "run": array.run,
        "indices": str(array.indices),
        "size": array.indices.count,
        "at_once_max": array.at_once,
        "priority": array.priority,
        "deadline_s": array.deadline_s,
        "late_count": array.late_count,
        "submitted_at_s": array.submitted_at_s,
        "ended_at_s": array.ended_at_s,
        "message": array.message,
        "reason": None if reason is None else reason_view(reason, array.id),
        "notes": list(array.notes),
        "counts": dict(array.counts),
        "active_states": dict(active) if array.count(IndexState.ACTIVE) else {},
        "ran_s": runs.ran_s,
        "cause": _cause(array, runs),
        "entries": None if array.entries is None else _entries(array, array.entries),
    }


def _cause(array: Array, runs: ArrayRuns) -> Cause | None:
    """Return why an array failed or was cancelled, if all its failed indices have the same cause."""
    if array.ended_at_s is None:
        return None
    if not array.count(IndexState.FAILED):
        return Cause.CANCELLED if array.count(IndexState.CANCELLED) else None
    if not runs.causes:  # it failed before any of its indices had an execution
        return Cause.DEPENDENCY_FAILED if array.conditions.impossible else None
    return next(iter(runs.causes)) if len(runs.causes) == 1 else None


def _entries(array: Array, entries: EntryList) -> EntriesView:
    states = {} if entries.count is None else dict(array.counts)
    return EntriesView(count=entries.count, states=states, problem=entries.problem)


def _ranges(array: Array, states: bytes) -> Iterator[tuple[IndexState, str]]:
    by_code: dict[int, list[int]] = {}
    for index, code in zip(array.indices, states, strict=True):
        by_code.setdefault(code, []).append(index)
    for code, found in sorted(by_code.items()):
        text = str(indices_of(found))
        if len(text) > _RANGES_LENGTH_MAX:
            text = text[: text.rindex(",", 0, _RANGES_LENGTH_MAX)] + ",..."
        yield INDEX_STATES[code], text
