"""Transfers of executions in the database: a row for each credential, and one for each counter of a proxy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_bridge.model import EndedTransfers, StoreExecution, TransferTotals
from storage_controller.database.tables import transfer_counts, transfers

ASKED_MAX = 200
"""Most credentials whose counters are settled or returned at a time."""
_T, _C = transfers.c, transfer_counts.c
_AMOUNTS = ("read_bytes", "written_bytes", "transferring_us", "waiting_us")


@dataclass(frozen=True, slots=True)
class HeardCount:
    """The last report of a counter of a proxy."""

    execution: str
    generation: int
    proxy: str
    born: int
    read_bytes: int
    written_bytes: int
    transferring_us: int
    waiting_us: int


def begin(connection: sa.Connection, execution: StoreExecution) -> None:
    """Create the transfer of a credential, unless it exists."""
    row = {
        "generation": execution.generation,
        "execution_id": execution.id,
        "tenant": execution.tenant,
        "owner": execution.owner,
    }
    connection.execute(insert(transfers).values(row).on_conflict_do_nothing())


def end(connection: sa.Connection, generations: Sequence[int], now_s: float) -> None:
    """Record the end of these credentials."""
    its = _T.generation.in_(generations) & _T.ended_s.is_(None)
    connection.execute(sa.update(transfers).where(its).values(ended_s=now_s))


def add(connection: sa.Connection, heard: Collection[HeardCount], window_us: float) -> Mapping[int, tuple[int, int]]:
    """Store counters of known, unsettled credentials. They never fall, so repetitions change nothing. Return the bytes
    read and written since the last call, by generation.

    Proxies transfer at the same time or one after the other: their time since the last call counts at most as much as
    the window, unless a single proxy reports more.
    """
    open_ = sa.select(_T.generation, _T.execution_id).where(
        _T.generation.in_({count.generation for count in heard}), _T.final_s.is_(None)
    )
    known = {(row.generation, row.execution_id) for row in connection.execute(open_)}
    counted = [count for count in heard if (count.generation, count.execution) in known]
    if not counted:
        return {}
    before = _stored_amounts(connection, {count.generation for count in counted})
    rows = [
        {"generation": count.generation, "proxy": count.proxy, "born": count.born}
        | {name: getattr(count, name) for name in _AMOUNTS}
        for count in counted
    ]
    upsert = insert(transfer_counts).values(rows)
    grown = {name: sa.func.greatest(_C[name], upsert.excluded[name]) for name in _AMOUNTS}
    connection.execute(upsert.on_conflict_do_update(index_elements=list(transfer_counts.primary_key), set_=grown))
    gained: dict[int, list[int]] = {}
    moved: dict[int, tuple[int, int]] = {}
    for count in counted:
        read, written, busy_us = before.get((count.generation, count.proxy, count.born), (0, 0, 0))
        gained.setdefault(count.generation, []).append(max(count.transferring_us - busy_us, 0))
        so_far = moved.get(count.generation, (0, 0))
        moved[count.generation] = (
            so_far[0] + max(count.read_bytes - read, 0),
            so_far[1] + max(count.written_bytes - written, 0),
        )
    for generation, each in gained.items():
        more = round(max(*each, min(sum(each), window_us)))
        if more:
            its = _T.generation == generation
            connection.execute(sa.update(transfers).where(its).values(transferring_us=_T.transferring_us + more))
    return moved


def unsettled_counters(connection: sa.Connection) -> Mapping[str, tuple[int, float]]:
    """Return ended credentials with unsettled counters: generation and end, by counters' names."""
    found = sa.select(transfers).where(_T.ended_s.is_not(None), _T.final_s.is_(None))
    rows = connection.execute(found.order_by(_T.ended_s).limit(ASKED_MAX))
    return {f"{row.execution_id}/{row.generation}": (row.generation, row.ended_s) for row in rows}


def settle(connection: sa.Connection, generation: int, now_s: float, *, whole: bool) -> None:
    """Settle the transfer of a credential. whole: whether all proxies have reported after its end."""
    connection.execute(sa.update(transfers).where(_T.generation == generation).values(final_s=now_s, whole=whole))


def sweep(connection: sa.Connection, before_s: float) -> None:
    """Delete transfers that were settled before that time and never fetched."""
    connection.execute(sa.delete(transfers).where(_T.final_s < before_s))


def forget(connection: sa.Connection, owner: str, generation: int) -> None:
    """Delete a settled transfer after its owner has fetched it, if it exists."""
    its = (_T.generation == generation) & (_T.owner == owner) & _T.final_s.is_not(None)
    connection.execute(sa.delete(transfers).where(its))


def current_transfers(connection: sa.Connection, owner: str) -> Mapping[str, TransferTotals]:
    """Return the transfers of an owner's executions with a credential, without idle ones."""
    rows = connection.execute(_sums(_T.owner == owner, _T.ended_s.is_(None)))
    return {row.execution_id: _totals(row) for row in rows if row.counters}


def settled_transfers(connection: sa.Connection, owner: str) -> list[EndedTransfers]:
    """Return the settled transfers that were not fetched yet, the oldest first."""
    wanted = _sums(_T.owner == owner, _T.final_s.is_not(None)).order_by(_T.final_s, _T.generation).limit(ASKED_MAX)
    return [
        EndedTransfers(
            row.execution_id, row.generation, _totals(row) if row.whole or row.counters else None, bool(row.whole)
        )
        for row in connection.execute(wanted)
    ]


def _stored_amounts(
    connection: sa.Connection, generations: Collection[int]
) -> dict[tuple[int, str, int], tuple[int, int, int]]:
    """Return bytes read, bytes written and microseconds of transfer of the stored counters."""
    found = sa.select(transfer_counts).where(_C.generation.in_(generations))
    return {
        (row.generation, row.proxy, row.born): (row.read_bytes, row.written_bytes, row.transferring_us)
        for row in connection.execute(found)
    }


def _sums(*wanted: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(
            transfers,
            sa.func.count(_C.proxy).label("counters"),
            sa.func.coalesce(sa.func.sum(_C.read_bytes), 0).label("read_bytes"),
            sa.func.coalesce(sa.func.sum(_C.written_bytes), 0).label("written_bytes"),
            sa.func.coalesce(sa.func.sum(_C.waiting_us), 0).label("waiting_us"),
        )
        .select_from(transfers.outerjoin(transfer_counts))
        .where(*wanted)
        .group_by(_T.generation)
    )


def _totals(row: sa.Row[Any]) -> TransferTotals:
    return TransferTotals(
        int(row.read_bytes), int(row.written_bytes), row.transferring_us / 1e6, int(row.waiting_us) / 1e6
    )
