"""Arrays as responses."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from zoe_api.representation import without_contents
from zoe_api.wire_forms import conditions_view, reason_view
from zoe_client.vocabulary import IndexState
from zoe_client.wire import ArraySummary, ArrayView, IndexView
from zoe_lib.descriptions import to_document
from zoe_lib.domain.arrays import CODES, INDEX_STATES, Array
from zoe_lib.domain.conditions import Conditions, reason_of
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.indices import indices_of

_RANGES_LENGTH_MAX = 4000


def array_summary(array: Array) -> ArraySummary:
    """Return an array as a line of a list."""
    return ArraySummary(**_summary(array))


def array_view(array: Array, states: bytes, with_secrets: bool = True) -> ArrayView:
    """Return an array with its indices by state; without secrets, as `representation.viewed` does with executions."""
    application, conditions = array.application, array.conditions
    if not with_secrets:
        application, conditions = without_contents(application), Conditions(conditions.held, conditions.begin_at_s)
    return ArrayView(
        **_summary(array),
        ranges=dict(_ranges(array, states)),
        conditions=conditions_view(conditions),
        corr=list(array.corr) if with_secrets else [],
        notes=list(array.notes),
        description=to_document(application),
    )


def index_views(
    array: Array, states: bytes, wanted: frozenset[IndexState] | None, after: int | None, limit: int
) -> Sequence[IndexView]:
    """Return the indices in these states (None: in any) behind an index, in order."""
    codes = None if wanted is None else {CODES[state] for state in wanted}
    found = (
        IndexView.model_construct(index=index, state=INDEX_STATES[code])
        for index, code in zip(array.indices, states, strict=True)
        if (after is None or index > after) and (codes is None or code in codes)
    )
    return list(islice(found, limit))


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


def _summary(array: Array) -> Mapping[str, Any]:
    reason = None if array.ended_at_s is not None else reason_of(array.conditions, time.time())
    return {
        "id": array.id,
        "name": array.name,
        "application": array.application.name,
        "tenant": array.tenant,
        "user": array.user,
        "state": array.state,
        "version": array.version,
        "run": array.run,
        "indices": str(array.indices),
        "size": array.indices.count,
        "at_once_max": array.at_once,
        "priority": array.priority,
        "deadline_s": array.deadline_s,
        "submitted_at_s": array.submitted_at_s,
        "ended_at_s": array.ended_at_s,
        "message": array.message,
        "reason": None if reason is None else reason_view(reason),
        "counts": dict(array.counts),
    }


def _ranges(array: Array, states: bytes) -> Iterator[tuple[IndexState, str]]:
    by_code: dict[int, list[int]] = {}
    for index, code in zip(array.indices, states, strict=True):
        by_code.setdefault(code, []).append(index)
    for code, found in sorted(by_code.items()):
        text = str(indices_of(found))
        if len(text) > _RANGES_LENGTH_MAX:
            text = text[: text.rindex(",", 0, _RANGES_LENGTH_MAX)] + ",..."
        yield INDEX_STATES[code], text
