"""Sums of ended executions, so that the cost of a query grows with recent events, not with all stored ones.

Of an ended execution, only its owner may change, which changes no sum: what ran is the use of its owner at that time.
The ids of the journal are in the order of commits. So the sums of all ends up to a journal id never change; a reader
adds the ends after that id, and the active executions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, Table, TextClause, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as insert_or

from zoe_lib.domain.executions.events import Ended, Refused
from zoe_lib.domain.executions.execution import ExecutionState, Mark
from zoe_lib.domain.executions.promises import requested_rates
from zoe_lib.domain.executions.use import DAY_S, DayOfUser, ResourceSeconds, granted_to_owners, granted_until
from zoe_lib.domain.values.owners import FormerUser
from zoe_lib.store.documents.codec import decode, encode, field_names
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.sql.billing.owners import OWNER
from zoe_lib.store.sql.executions.executions import applications_of
from zoe_lib.store.tables.executions import NOT_TERMINAL
from zoe_lib.store.tables.executions import journal as journal_entries
from zoe_lib.store.tables.sums import daily_use as removed_use
from zoe_lib.store.tables.sums import ended_counts, summed_up, use_by_day

# Entries of the journal in one transaction: limits its duration, and how long others wait for its row. Entries, not
# ids: retention and a restore leave gaps, and that of a restore has a thousand million ids.
ENTRIES_AT_ONCE = 20_000
_DAYS = (-(2**31), 2**31 - 1)

_ENDED = f"""
    SELECT one.* FROM journal JOIN executions AS one ON one.id = journal.execution_id
    WHERE journal.id > :after_id AND journal.id <= :until_id AND journal.kind IN ('{Ended.kind}', '{Refused.kind}')
"""  # noqa: S608 - made of constants
# Executions that wait for their first start have used nothing: a long queue costs its own length, not that of its
# services.
_GOING_ON = f"""
    SELECT * FROM executions
    WHERE {NOT_TERMINAL} AND (attempt > 1 OR state NOT IN ('{ExecutionState.SUBMITTED}', '{ExecutionState.QUEUED}'))
"""  # noqa: S608
_UNTIL_NOW = f"({_ENDED} UNION ALL {_GOING_ON})"
# Reservations of services since their processes started, split at midnight UTC.
_RESERVED = f"""
    SELECT day, tenant, user_name, sum(cores_milli / 1000.0::double precision * seconds) AS core_s,
           sum(memory_bytes * seconds) AS memory_byte_s
    FROM (
        SELECT one.tenant, owner.user_name, services.cores_milli, services.memory_bytes::double precision, day,
               least(services_end, owner.until_s, (day + 1) * :day_s)
               - greatest(services.started_at_s, owner.since_s, day * :day_s) AS seconds
        FROM {{chosen}} AS one
        JOIN services ON services.execution_id = one.id AND services.started_at_s IS NOT NULL
                         AND coalesce(services.ended_at_s, CAST(:now_s AS double precision)) IS NOT NULL
        CROSS JOIN LATERAL coalesce(services.ended_at_s, CAST(:now_s AS double precision)) AS services_end
        CROSS JOIN LATERAL {OWNER}
        CROSS JOIN LATERAL generate_series(
            greatest(floor(services.started_at_s / :day_s)::bigint, :from_day),
            least(floor(services_end / :day_s)::bigint, :to_day)
        ) AS day
        WHERE CAST(:tenant AS text) IS NULL OR one.tenant = :tenant
    ) AS parts
    WHERE seconds > 0
    GROUP BY day, tenant, user_name
"""  # noqa: S608
# The amount is in the description, which only Python can read.
_GRANTED = f"""
    SELECT id, tenant, user_name, application_hash, marks, granted_s, former_owners FROM {{chosen}} AS one
    WHERE (CAST(:tenant AS text) IS NULL OR tenant = :tenant)
          AND (granted_s <> '{{{{}}}}' OR jsonb_exists(marks, '{Mark.STORAGE_GRANTED}'))
"""  # noqa: S608


def _statements(chosen: str) -> tuple[TextClause, TextClause]:
    return text(_RESERVED.format(chosen=chosen)), text(_GRANTED.format(chosen=chosen))


_OF_ENDED = _statements(f"({_ENDED})")
_OF_ALL_ELSE = _statements(_UNTIL_NOW)
_COUNT_ENDED = text(f"SELECT state, count(*) FROM ({_ENDED}) AS ended GROUP BY state")  # noqa: S608
_COUNT_ACTIVE = text(f"SELECT state, count(*) FROM executions WHERE {NOT_TERMINAL} GROUP BY state")  # noqa: S608
_UNTIL_ID_MAX = 2**63 - 1

Use = dict[DayOfUser, ResourceSeconds]


def sum_up(connection: Connection, applications: Applications) -> bool:
    """Add the next ends of the journal to the sums; return whether there may be more."""
    after_id = _locked_position(connection)
    next_ids = (
        select(journal_entries.c.id)
        .where(journal_entries.c.id > after_id)
        .order_by(journal_entries.c.id)
        .limit(ENTRIES_AT_ONCE)
        .subquery()
    )
    entries, until_id = connection.execute(select(func.count(), func.max(next_ids.c.id))).one()
    if not entries:
        return False
    span = {"after_id": after_id, "until_id": until_id}
    use = _use(connection, applications, _OF_ENDED, {**span, "now_s": None, "tenant": None}, *_DAYS)
    add_use(connection, use_by_day, use)
    for state, number in connection.execute(_COUNT_ENDED, span):
        _add_count(connection, state, number)
    connection.execute(summed_up.update().values(journal_id=until_id))
    return bool(entries == ENTRIES_AT_ONCE)


def summed_up_to(connection: Connection) -> int | None:
    """Return the journal id up to which ends are in the sums; None before the first."""
    position: int | None = connection.execute(select(summed_up.c.journal_id)).scalar_one_or_none()
    return position


def forget(connection: Connection, removed: Mapping[str, int]) -> None:
    """Stop counting removed executions, by state; their usage stays."""
    for state, number in removed.items():
        _add_count(connection, state, -number)


def counts(connection: Connection) -> Mapping[ExecutionState, int]:
    """Return the number of executions by state."""
    result = dict.fromkeys(ExecutionState, 0)
    span = {"after_id": summed_up_to(connection) or 0, "until_id": _UNTIL_ID_MAX}
    kept = connection.execute(select(ended_counts.c.state, ended_counts.c.executions))
    for rows in (kept, connection.execute(_COUNT_ENDED, span), connection.execute(_COUNT_ACTIVE)):
        for state, number in rows:
            result[ExecutionState(state)] += number
    return result


def read_daily_use(
    connection: Connection,
    applications: Applications,
    from_day: int,
    to_day: int,
    now_s: float | None,
    tenant: str | None = None,
) -> Mapping[DayOfUser, ResourceSeconds]:
    """Return usage by day, tenant and user: from the sums, and from later events."""
    position = summed_up_to(connection)
    table = removed_use if position is None else use_by_day
    wanted = select(table).where(table.c.day >= from_day, table.c.day <= to_day)
    if tenant is not None:
        wanted = wanted.where(table.c.tenant == tenant)
    result = {_key(row): _amounts(row) for row in connection.execute(wanted)}
    span = {"after_id": position or 0, "until_id": _UNTIL_ID_MAX, "now_s": now_s, "tenant": tenant}
    for key, use in _use(connection, applications, _OF_ALL_ELSE, span, from_day, to_day).items():
        result[key] = result.get(key, ResourceSeconds()) + use
    return result


def _locked_position(connection: Connection) -> int:
    """Return the position of the sums, locked so that no other transaction moves it."""
    lock = select(summed_up.c.journal_id).with_for_update()
    position: int | None = connection.execute(lock).scalar_one_or_none()
    if position is not None:
        return position
    begun = insert_or(summed_up).values(id=1, journal_id=0).on_conflict_do_nothing().returning(summed_up.c.id)
    if connection.execute(begun).scalar_one_or_none() is not None:
        columns = [column.name for column in use_by_day.c]
        connection.execute(insert(use_by_day).from_select(columns, select(*(removed_use.c[name] for name in columns))))
    begun_by_any: int = connection.execute(lock).scalar_one()
    return begun_by_any


def _use(
    connection: Connection,
    applications: Applications,
    statements: tuple[TextClause, TextClause],
    span: Mapping[str, Any],
    from_day: int,
    to_day: int,
) -> Use:
    reserved, granted = statements
    days = {**span, "from_day": from_day, "to_day": to_day, "day_s": DAY_S}
    result = {_key(row): ResourceSeconds(row.core_s, row.memory_byte_s) for row in connection.execute(reserved, days)}
    rows = connection.execute(granted, span).all()
    parsed = applications_of(connection, applications, rows)
    for row in rows:
        rates = requested_rates(parsed[row.application_hash])
        if rates is None:
            continue
        former = [decode(FormerUser, entry) for entry in row.former_owners or ()]
        for user, day, seconds in granted_to_owners(_granted_seconds(row, span["now_s"]), row.user_name, former):
            if from_day <= day <= to_day:
                key = DayOfUser(day, row.tenant, user)
                moved = ResourceSeconds(store_bytes=float(rates.read + rates.write) * seconds)
                result[key] = result.get(key, ResourceSeconds()) + moved
    return result


def _granted_seconds(row: Row[Any], now_s: float | None) -> Mapping[int, float]:
    before = {int(day): float(seconds) for day, seconds in row.granted_s.items()}
    return granted_until(before, row.marks.get(Mark.STORAGE_GRANTED), row.marks.get(Mark.ENDED, now_s))


def _key(row: Row[Any]) -> DayOfUser:
    return DayOfUser(row.day, row.tenant, row.user_name)


def _amounts(row: Row[Any]) -> ResourceSeconds:
    return ResourceSeconds(row.core_s, row.memory_byte_s, row.store_bytes)


def add_use(connection: Connection, table: Table, use: Mapping[DayOfUser, ResourceSeconds]) -> None:
    """Add usage to a table of usage by day."""
    rows = [
        {"day": k.day, "tenant": k.tenant, "user_name": k.user, **encode(u)}
        for k, u in sorted(use.items(), key=lambda item: (item[0].day, item[0].tenant, item[0].user))
    ]
    if not rows:
        return
    new = insert_or(table)
    sums = {name: table.c[name] + new.excluded[name] for name in field_names(ResourceSeconds)}
    connection.execute(new.on_conflict_do_update(index_elements=list(table.primary_key), set_=sums), rows)


def _add_count(connection: Connection, state: str, number: int) -> None:
    new = insert_or(ended_counts).values(state=state, executions=number)
    total = ended_counts.c.executions + new.excluded.executions
    connection.execute(new.on_conflict_do_update(index_elements=[ended_counts.c.state], set_={"executions": total}))
