"""Shares of executions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ARRAY, ColumnElement, Connection, Select, Text, and_, any_, delete, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.applications.sharing import ExecutionShares, ShareLevel
from zoe_lib.domain.executions.arrays import is_array
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.store.documents.rows import from_row, row_of
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import NotFound, TooManyShares
from zoe_lib.store.people import Share
from zoe_lib.store.sql.visible.people import check_member
from zoe_lib.store.tables.accounts import OF_TENANT, shares
from zoe_lib.store.tables.arrays import arrays
from zoe_lib.store.tables.executions import executions
from zoe_lib.store.tables.jobs import opened_executions

SHARES_MAX = 100


def put(connection: Connection, share: Share) -> None:
    """Store a share, or change the level of one. It ends with the membership of either user.

    Raises NotFound unless both are members, and TooManyShares.
    """
    for member in filter(None, (share.owner, share.user)):
        check_names(member)
        check_member(connection, member, share.tenant)
    # Locked, so that no two calls take the last place.
    known = select(executions.c.id).where(executions.c.id == share.execution_id).with_for_update(key_share=True)
    if connection.execute(known).first() is None:
        raise NotFound(f"execution {share.execution_id} does not exist")
    others = [entry for entry in read(connection, share.execution_id) if entry.user != share.user]
    if len(others) >= SHARES_MAX:
        raise TooManyShares(
            f"execution {share.execution_id} is shared {SHARES_MAX} times, which is the maximum; end one share first"
        )
    row = insert(shares).values(row_of(share))
    changed = {"level": share.level.value, "at_s": share.at_s}
    if share.user is None:
        statement = row.on_conflict_do_update(
            index_elements=[shares.c.execution_id], index_where=OF_TENANT, set_=changed
        )
    else:
        statement = row.on_conflict_do_update(index_elements=[shares.c.execution_id, shares.c.user_name], set_=changed)
    connection.execute(statement)
    if share.level.includes(ShareLevel.OPEN):
        opened = {"execution_id": share.execution_id, "at_s": share.at_s}
        connection.execute(insert(opened_executions).values(opened).on_conflict_do_nothing())


def was_opened(connection: Connection, execution_id: ExecutionId) -> bool:
    """Return whether an execution is, or ever was, shared so that another user can read its files and tokens."""
    if not storable(execution_id):
        return False
    known = select(opened_executions).where(opened_executions.c.execution_id == execution_id)
    return connection.execute(known).first() is not None


def end(connection: Connection, execution_id: ExecutionId, user: str | None) -> None:
    """Remove the share with a user, or with the tenant; NotFound."""
    check_names(execution_id, user or "")
    here = (shares.c.execution_id == execution_id, shares.c.user_name.is_not_distinct_from(user))
    if connection.execute(delete(shares).where(*here)).rowcount != 1:
        whom = "its tenant" if user is None else user
        raise NotFound(f"execution {execution_id} is not shared with {whom}")


def transfer_to(connection: Connection, execution_id: ExecutionId, owner: str) -> None:
    """Transfer the shares of an execution to its new owner, who needs no share. The owner must be a member."""
    here = shares.c.execution_id == execution_id
    connection.execute(delete(shares).where(here, shares.c.user_name == owner))
    connection.execute(update(shares).where(here).values(owner=owner))


def read(connection: Connection, execution_id: ExecutionId) -> Sequence[Share]:
    """Return the shares of an execution: with the tenant first, then by user."""
    if not storable(execution_id):
        return ()
    found = select(shares).where(shares.c.execution_id == execution_id).order_by(shares.c.user_name.nulls_first())
    rows = connection.execute(found)
    return [replace(share, level=ShareLevel(share.level)) for share in (from_row(Share, row) for row in rows)]


def level_for(connection: Connection, execution_id: ExecutionId, tenant: str, user: str) -> ShareLevel | None:
    """Return the highest level shared with a user of a tenant; None without a share."""
    if not storable(execution_id):
        return None
    levels = select(shares.c.level).where(shares.c.execution_id == execution_id, _is_shared_with(tenant, user))
    return max(map(ShareLevel, connection.execute(levels).scalars()), key=list(ShareLevel).index, default=None)


def may_open(connection: Connection, execution_id: ExecutionId, tenant: str, user: str) -> bool:
    """Return whether a user of a tenant may open the application: as its owner, or by a share."""
    owner = select(executions.c.tenant, executions.c.user_name).where(executions.c.id == execution_id)
    row = connection.execute(owner).one_or_none()
    if row is None or row.tenant != tenant:
        return False
    level = level_for(connection, execution_id, tenant, user)
    return row.user_name == user or (level is not None and level.includes(ShareLevel.OPEN))


def of_executions(connection: Connection, ids: Collection[ExecutionId]) -> Mapping[ExecutionId, ExecutionShares]:
    """Return the users who may see these executions and arrays; unknown ones are missing."""
    wanted = any_(literal(sorted(ids), ARRAY(Text)))
    levels: dict[ExecutionId, dict[str | None, ShareLevel]] = defaultdict(dict)
    for row in connection.execute(select(shares).where(shares.c.execution_id == wanted)):
        levels[row.execution_id][row.user_name] = ShareLevel(row.level)
    # The journal also has entries of arrays, which are not shared.
    tables = (executions, arrays) if any(map(is_array, ids)) else (executions,)
    return {
        row.id: ExecutionShares(row.tenant, row.user_name, levels.get(row.id, {}))
        for table in tables
        for row in connection.execute(select(table.c.id, table.c.tenant, table.c.user_name).where(table.c.id == wanted))
    }


def shared_ids(tenant: str, user: str) -> Select[tuple[str]]:
    """Return the statement for the ids of executions shared with a user of a tenant."""
    return select(shares.c.execution_id).where(_is_shared_with(tenant, user))


def _is_shared_with(tenant: str, user: str) -> ColumnElement[bool]:
    return and_(shares.c.tenant == tenant, or_(shares.c.user_name == user, shares.c.user_name.is_(None)))
