"""Use of the store by executions in the database: requests by subject, and bytes over time, for a week after the last
change.

A row of `execution_uses` is the last report of a counter of a proxy. A row of `execution_spans` has the bytes of half a
minute.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.database.tables import execution_spans, execution_uses, transfers

SPAN_S = 30.0
SUBJECTS_MAX = 500
"""Most returned subjects of an execution; the ones with the most bytes and requests come first."""
EXECUTIONS_MAX = 50
"""Most returned executions of a tenant; the ones with the most bytes come first."""
_U, _S, _T = execution_uses.c, execution_spans.c, transfers.c
_AMOUNTS = ("done", "refused", "read_bytes", "written_bytes")
_MOVED = ("read_bytes", "written_bytes")


@dataclass(frozen=True, slots=True)
class HeardUse:
    """The last report of a counter of a proxy. subject: as in `storage_filters/counting/use_counters.py`."""

    execution: str
    generation: int
    subject: str
    proxy: str
    born: int
    done: int
    refused: int
    read_bytes: int
    written_bytes: int


def add_uses(connection: sa.Connection, heard: Collection[HeardUse], now_s: float) -> None:
    """Store counters of credentials that are known, or were known at an earlier report. Counters never fall."""
    generations = {use.generation for use in heard}
    if not generations:
        return
    before = sa.select(_U.generation, _U.execution_id, _U.tenant, _U.owner).where(_U.generation.in_(generations))
    there = sa.select(_T.generation, _T.execution_id, _T.tenant, _T.owner).where(_T.generation.in_(generations))
    known = {(row.generation, row.execution_id): row for row in connection.execute(before.union(there))}
    rows = [
        {"generation": use.generation, "proxy": use.proxy, "born": use.born, "subject": use.subject}
        | {"execution_id": use.execution, "tenant": its.tenant, "owner": its.owner, "changed_s": now_s}
        | {name: getattr(use, name) for name in _AMOUNTS}
        for use in heard
        if (its := known.get((use.generation, use.execution))) is not None
    ]
    if rows:
        upsert = insert(execution_uses).values(rows)
        grown: dict[str, Any] = {name: sa.func.greatest(_U[name], upsert.excluded[name]) for name in _AMOUNTS}
        grown["changed_s"] = now_s
        key = list(execution_uses.primary_key)
        connection.execute(upsert.on_conflict_do_update(index_elements=key, set_=grown))


def add_spans(connection: sa.Connection, moved: Mapping[int, tuple[int, int]], now_s: float) -> None:
    """Add the bytes read and written with credentials since the last call to the present half minute."""
    grown = {generation: amounts for generation, amounts in moved.items() if any(amounts)}
    if not grown:
        return
    its = sa.select(_T.generation, _T.execution_id, _T.tenant, _T.owner).where(_T.generation.in_(grown))
    found: dict[str, dict[str, Any]] = {}
    for row in connection.execute(its):
        read, written = grown[row.generation]
        empty = {"execution_id": row.execution_id, "tenant": row.tenant, "owner": row.owner, **dict.fromkeys(_MOVED, 0)}
        one = found.setdefault(row.execution_id, empty | {"at_s": now_s - now_s % SPAN_S})
        one["read_bytes"] += read
        one["written_bytes"] += written
    if found:
        upsert = insert(execution_spans).values(list(found.values()))
        added = {name: _S[name] + upsert.excluded[name] for name in _MOVED}
        key = list(execution_spans.primary_key)
        connection.execute(upsert.on_conflict_do_update(index_elements=key, set_=added))


def sweep_uses(connection: sa.Connection, before_s: float) -> None:
    """Delete rows that have not changed since then."""
    connection.execute(sa.delete(execution_uses).where(_U.changed_s < before_s))
    connection.execute(sa.delete(execution_spans).where(_S.at_s < before_s))


def uses_of(connection: sa.Connection, owner: str, execution: str) -> Sequence[Mapping[str, Any]]:
    """Return the uses of an execution by subject, the ones with the most bytes first."""
    sums = [sa.func.sum(_U[name]).label(name) for name in _AMOUNTS]
    found = (
        sa.select(_U.subject, *sums)
        .where(_U.owner == owner, _U.execution_id == execution)
        .group_by(_U.subject)
        .order_by((sums[2] + sums[3]).desc(), (sums[0] + sums[1]).desc(), _U.subject)
        .limit(SUBJECTS_MAX)
    )
    return [{"subject": row.subject} | {n: int(getattr(row, n)) for n in _AMOUNTS} for row in connection.execute(found)]


def spans_of(
    connection: sa.Connection,
    owner: str,
    within: tuple[float, float, float],
    execution: str | None,
    tenant: str | None,
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return bytes by execution and interval, of one execution or of the tenant's executions with the most bytes.
    within: from, to and the length of an interval, in seconds.
    """
    from_s, to_s, stretch_s = within
    wanted = [_S.owner == owner, _S.at_s >= from_s, _S.at_s < to_s]
    if execution is not None:
        wanted.append(_S.execution_id == execution)
    if tenant is not None:
        wanted.append(_S.tenant == tenant)
    total = sa.func.sum(_S.read_bytes + _S.written_bytes)
    busiest = (
        sa.select(_S.execution_id).where(*wanted).group_by(_S.execution_id).order_by(total.desc(), _S.execution_id)
    )
    at_s = (sa.func.floor(_S.at_s / stretch_s) * stretch_s).label("stretch_s")
    sums = [sa.func.sum(_S[name]).label(name) for name in _MOVED]
    rows = connection.execute(
        sa.select(_S.execution_id, at_s, *sums)
        .where(*wanted, _S.execution_id.in_(busiest.limit(EXECUTIONS_MAX)))
        .group_by(_S.execution_id, at_s)
        .order_by(_S.execution_id, at_s)
    )
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        point = {"at_s": float(row.stretch_s), **{name: int(getattr(row, name)) for name in _MOVED}}
        found.setdefault(row.execution_id, []).append(point)
    return found
