"""Read executions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Row,
    Select,
    Text,
    TextClause,
    and_,
    any_,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    tuple_,
    union_all,
)

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions.execution import WAITING_STATES, Execution, ExecutionId, ExecutionState, Service
from zoe_lib.store.documents.cursors import decode_cursor, encode_cursor, encode_position
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.documents.rows import to_execution, to_service
from zoe_lib.store.documents.text import storable
from zoe_lib.store.errors import NotFound
from zoe_lib.store.sql.executions.deadlines import deadline_is
from zoe_lib.store.sql.visible.shares import shared_ids
from zoe_lib.store.tables.executions import NEWEST_FIRST, NOT_TERMINAL, executions, journal, services
from zoe_lib.store.values import ExecutionPage, ExecutionQuery

# All columns but the document, which is the largest, and nearly always parsed already.
_LIGHT = [column for column in executions.c if column.name != "application"]


def read_execution(connection: Connection, applications: Applications, execution_id: ExecutionId) -> Execution:
    """Return one execution with its services; NotFound."""
    found = _load(connection, applications, select(*_LIGHT).where(executions.c.id == execution_id))
    if not found:
        raise NotFound(f"execution {execution_id} does not exist")
    return found[0]


def page(connection: Connection, applications: Applications, query: ExecutionQuery, searched_max: int) -> ExecutionPage:
    """Return a page of executions, newest first."""
    found = _load(connection, applications, page_query(query, searched_max))
    if len(found) > query.limit:
        return ExecutionPage(found[:-1], encode_cursor(found[-2]))
    if query.searches:
        newest = _newest(query, searched_max, *NEWEST_FIRST)
        last = connection.execute(newest.offset(searched_max - 1).limit(1)).first()
        if last is not None:
            return ExecutionPage(found, encode_position((last.submitted_at_s, last.id)), last.submitted_at_s)
    return ExecutionPage(found, None)


def page_query(query: ExecutionQuery, searched_max: int) -> Select[Any]:
    """Return the statement of `page`; an extra row shows whether there is another page.

    No index helps to find part of a name, or what is in a description, so a search examines a limited number of the
    newest executions.
    """
    if not query.searches:
        return _newest(query, query.limit + 1, *_LIGHT).limit(query.limit + 1)
    searched = _newest(query, searched_max, *_LIGHT, *_described(query)).limit(searched_max).subquery("executions")
    found = select(*(searched.c[column.name] for column in _LIGHT))
    if query.name_contains is not None:
        found = found.where(searched.c.name.icontains(query.name_contains, autoescape=True))
    if query.kind is not None:
        found = found.where(searched.c.described_kind == query.kind.value)
    if query.application is not None:
        found = found.where(searched.c.described_name == query.application)
    newest_first = (searched.c[column.name].desc() for column in NEWEST_FIRST)
    return found.order_by(*newest_first).limit(query.limit + 1)


def _described(query: ExecutionQuery) -> list[ColumnElement[str]]:
    """Return the columns of descriptions that the query needs: reading documents takes long."""
    wanted = {"kind": query.kind, "name": query.application}
    document = executions.c.application
    return [document[name].astext.label(f"described_{name}") for name, of in wanted.items() if of is not None]


def _newest(query: ExecutionQuery, limit: int, *columns: ColumnElement[Any]) -> Select[Any]:
    """Return the executions of the query by time, without its conditions on name and description; each is among the
    first `limit`.

    A user's own and shared executions are read separately: one scan would examine all executions of the tenant.
    """
    seen, ordered = query.visibility, [column.desc() for column in NEWEST_FIRST]
    matching = _matching(query, *columns)
    if seen.tenant is None:
        return matching.order_by(*ordered)
    matching = matching.where(executions.c.tenant == seen.tenant)
    if seen.user is None:
        return matching.order_by(*ordered)
    mine = executions.c.user_name == seen.user
    parts = (mine, and_(~mine, executions.c.id.in_(shared_ids(seen.tenant, seen.user))))
    first = (select(matching.where(part).order_by(*ordered).limit(limit).subquery()) for part in parts)
    both = union_all(*first).subquery("executions")
    return select(both).order_by(*(both.c[column.name].desc() for column in NEWEST_FIRST))


def visible(visibility: Visibility) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for visibility, for statements that choose few executions."""
    if visibility.tenant is None:
        return ()
    here = executions.c.tenant == visibility.tenant
    if visibility.user is None:
        return (here,)
    shared = executions.c.id.in_(shared_ids(visibility.tenant, visibility.user))
    return here, or_(executions.c.user_name == visibility.user, shared)


def _matching(query: ExecutionQuery, *columns: ColumnElement[Any]) -> Select[Any]:
    """Return the conditions of the query, except those on visibility, name and description."""
    statement = select(*columns)
    if query.user is not None:
        statement = statement.where(executions.c.user_name == query.user)
    if query.states is not None:
        statement = statement.where(_in_states(query.states, query.held))
    if query.ids is not None:
        statement = statement.where(executions.c.id.in_([id_ for id_ in query.ids if storable(id_)]))
    if query.submitted_from_s is not None:
        statement = statement.where(executions.c.submitted_at_s >= query.submitted_from_s)
    if query.submitted_to_s is not None:
        statement = statement.where(executions.c.submitted_at_s <= query.submitted_to_s)
    if query.ended_from_s is not None:
        still = executions.c.ended_at_s.is_(None)
        statement = statement.where(or_(still, executions.c.ended_at_s >= query.ended_from_s))
    if query.array_id is not None:
        statement = statement.where(executions.c.array_id == query.array_id)
    if query.family is not None:
        family = list(query.family)
        statement = statement.where(or_(executions.c.id.in_(family), executions.c.array_id.in_(family)))
    if query.deadline is not None:
        statement = statement.where(deadline_is(query.deadline, query.now_s))
    if query.alone:
        statement = statement.where(executions.c.array_id.is_(None))
    if query.cursor is not None:
        statement = statement.where(tuple_(*NEWEST_FIRST) < tuple_(*map(literal, decode_cursor(query.cursor))))
    return statement


def _in_states(states: frozenset[ExecutionState], held: bool) -> ColumnElement[bool]:
    in_states = executions.c.state.in_([state.value for state in states])
    if not held:
        return in_states
    waiting = executions.c.state.in_([state.value for state in WAITING_STATES])
    return or_(in_states, and_(waiting, executions.c.conditions["held"].astext.is_not(None)))


def ended_before(
    connection: Connection, applications: Applications, at_s: float, journal_id: int, limit: int
) -> Sequence[Execution]:
    """Return some executions that ended before, with no later entry in the journal, locked until the transaction
    ends.
    """
    later = exists().where(journal.c.execution_id == executions.c.id, journal.c.id > journal_id)
    old = select(*_LIGHT).where(executions.c.ended_at_s < at_s, ~later).limit(limit)
    return _load(connection, applications, old.with_for_update(skip_locked=True))


def active(connection: Connection, applications: Applications) -> Sequence[Execution]:
    """Return all active executions, oldest first."""
    return _load(connection, applications, active_query())


def active_query() -> Select[Any]:
    """Return the statement of `active`."""
    return select(*_LIGHT).where(text(NOT_TERMINAL)).order_by(*NEWEST_FIRST)


def matching_executions(
    connection: Connection, applications: Applications, *conditions: ColumnElement[bool] | TextClause
) -> Sequence[Execution]:
    """Return the executions that meet these conditions."""
    return _load(connection, applications, select(*_LIGHT).where(*conditions))


def active_counts(connection: Connection) -> Mapping[tuple[str, str], int]:
    """Return the number of waiting and running executions, by tenant and user."""
    owner = (executions.c.tenant, executions.c.user_name)
    rows = connection.execute(select(*owner, func.count()).where(text(NOT_TERMINAL)).group_by(*owner))
    return {(tenant, user): number for tenant, user, number in rows}


def _load(connection: Connection, applications: Applications, statement: Select[Any]) -> list[Execution]:
    rows = connection.execute(statement).all()
    parsed = applications_of(connection, applications, rows)
    owned = _services_of(connection, [row.id for row in rows])
    return [to_execution(row, parsed[row.application_hash], owned[row.id]) for row in rows]


def applications_of(
    connection: Connection, applications: Applications, rows: Iterable[Row[Any]]
) -> Mapping[str, Application]:
    """Return the applications of such rows by their hash; it reads only documents that are not parsed yet."""
    parsed: dict[str, Application] = {}
    missing: dict[str, ExecutionId] = {}
    for row in rows:
        application = applications.get(row.application_hash)
        if application is None:
            missing[row.application_hash] = row.id
        else:
            parsed[row.application_hash] = application
    if missing:
        columns = (executions.c.application_hash, executions.c.application)
        documents = select(*columns).where(executions.c.id.in_(list(missing.values())))
        for name, document in connection.execute(documents):
            parsed[name] = applications.load(name, document)
    return parsed


def _services_of(connection: Connection, ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, list[Service]]:
    owned: dict[ExecutionId, list[Service]] = defaultdict(list)
    if ids:
        for row in connection.execute(services_query(ids)):
            owned[row.execution_id].append(to_service(row))
    return owned


def services_query(ids: Sequence[ExecutionId]) -> Select[Any]:
    """Return the services of these executions in order; the statement takes an array, so that it is the same for any
    number of executions.
    """
    wanted = any_(literal(list(ids), ARRAY(Text)))
    ordered = (services.c.execution_id, services.c.position)
    return select(services).where(services.c.execution_id == wanted).order_by(*ordered)
