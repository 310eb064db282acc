"""Differences between two executions: fields of their descriptions, outcomes, times, and use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from zoe_api.access.representation import without_contents
from zoe_client.wire.executions.diffs import DiffEntry, DiffPart, DiffView
from zoe_lib.descriptions import to_document
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.store.values import ExecutionUse

ENTRIES_MAX = 1000
_TEXT_MAX = 4000
_MISSING: Any = object()
_PARTS = {
    "environment": DiffPart.ENVIRONMENT,
    "image": DiffPart.IMAGE,
    "resources": DiffPart.RESOURCES,
    "total_count": DiffPart.RESOURCES,
    "preferred_count": DiffPart.RESOURCES,
    "essential_count": DiffPart.RESOURCES,
    "storage": DiffPart.INPUTS,
    "results": DiffPart.RESULTS,
}


def diff_of(before: Execution, after: Execution, use: Mapping[str, ExecutionUse], hidden: bool) -> DiffView:
    """Return the differences, a thousand fields at most; `hidden`: without values of environments and texts of
    files.
    """
    documents = [
        to_document(without_contents(execution.application) if hidden else execution.application)
        for execution in (before, after)
    ]
    found = list(islice(_entries(before, after, documents, use), ENTRIES_MAX + 1))
    complete = len(found) <= ENTRIES_MAX
    return DiffView(before=before.id, after=after.id, entries=found[:ENTRIES_MAX], hidden=hidden, complete=complete)


def _entries(
    before: Execution, after: Execution, documents: list[dict[str, Any]], use: Mapping[str, ExecutionUse]
) -> Iterator[DiffEntry]:
    both = (before, after)
    yield from _changes(DiffPart.OUTCOME, *map(_outcome, both))
    yield from _changes(DiffPart.TIMES, *map(_times, both))
    yield from _changes(DiffPart.USE, *(_use(use.get(execution.id)) for execution in both))
    for path, old, new in _walk("", *documents):
        part = next((_PARTS[name] for name in path.split("/") if name in _PARTS), DiffPart.DESCRIPTION)
        yield DiffEntry(part=part, path=path, before=_shorten_value(old), after=_shorten_value(new))


def _changes(part: DiffPart, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[DiffEntry]:
    for name in old:
        if old[name] != new[name]:
            yield DiffEntry(part=part, path=name, before=old[name], after=new[name])


def _outcome(one: Execution) -> dict[str, Any]:
    return {
        "name": one.name,
        "user": one.user,
        "priority": one.priority,
        "state": one.state.value,
        "cause": None if one.cause is None else one.cause.value,
        "exit_code": one.exit_code,
        "message": one.message,
        "attempt": one.attempt,
        "nodes": sorted({service.node for service in one.services if service.node}),
    }


def _times(one: Execution) -> dict[str, Any]:
    started_s, ended_s = one.marks.get(Mark.STARTED), one.marks.get(Mark.ENDED)
    return {
        "submitted_at_s": one.submitted_at_s,
        "waited_s": None if started_s is None else round(started_s - one.submitted_at_s, 3),
        "run_s": None if started_s is None or ended_s is None else round(ended_s - started_s, 3),
    }


def _use(one: ExecutionUse | None) -> dict[str, Any]:
    return {
        name: None if one is None else getattr(one, name)
        for name in ("cpu_s", "reserved_core_s", "memory_peak_bytes", "memory_reserved_bytes")
    }


def _walk(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the fields that differ. Recursion is bounded by the description format."""
    old, new = _by_name(old), _by_name(new)
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            place = f"{path}/{name}"
            yield from _walk(place, old.get(name, _MISSING), new.get(name, _MISSING))
    elif old is _MISSING or new is _MISSING or type(old) is not type(new) or old != new:
        yield path, old, new


def _by_name(value: Any) -> Any:
    """Return a list of named objects, such as components, as an object: their order has no meaning."""
    if isinstance(value, list) and value and all(isinstance(entry, dict) and "name" in entry for entry in value):
        return {entry["name"]: entry for entry in value}
    return value


def _shorten_value(value: Any) -> Any:
    if value is _MISSING:
        return None
    return f"{value[:_TEXT_MAX]}..." if isinstance(value, str) and len(value) > _TEXT_MAX else value
