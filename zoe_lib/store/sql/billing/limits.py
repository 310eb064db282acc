"""The limits of tenants and users, one row for each subject."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, select, text
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.limits import EVERY, Limits, LimitSubject, limits_of_subjects
from zoe_lib.store.documents.rows import Row
from zoe_lib.store.tables.installation import limits

# The tenant as a whole.
_NO_USER = ""


def lock(connection: Connection) -> None:
    """Keep other transactions from changing limits, and the policy with them; readers are not blocked."""
    connection.execute(text("LOCK TABLE limits IN SHARE ROW EXCLUSIVE MODE"))


def read(connection: Connection) -> Limits:
    """Return all limits."""
    return _limits(connection.execute(select(limits)))


def of_submission(connection: Connection, execution: Execution | Array) -> Limits:
    """Return the limits that may apply to a new execution or array; none of them changes until the transaction ends."""
    tenants, users = (execution.tenant, EVERY), (_NO_USER, EVERY, execution.user)
    rows = select(limits).where(limits.c.tenant.in_(tenants), limits.c.user_name.in_(users))
    return _limits(connection.execute(rows.with_for_update(read=True)))


def write(connection: Connection, wanted: Limits) -> None:
    """Replace the limits. A changed row stays the same row, so that transactions that wait for it see the change."""
    there = read(connection)
    for subject in {*there.subjects(), *wanted.subjects()}:
        values = {"tenant": subject.tenant, "user_name": subject.user or _NO_USER}
        amounts = dict(wanted.own_amounts(subject))
        if not amounts:
            same = (limits.c[name] == of_it for name, of_it in values.items())
            connection.execute(delete(limits).where(*same))
        elif amounts != there.own_amounts(subject):
            row = insert(limits).values(**values, amounts=amounts)
            connection.execute(row.on_conflict_do_update(constraint=limits.primary_key, set_={"amounts": amounts}))


def _limits(rows: Iterable[Row]) -> Limits:
    return limits_of_subjects((LimitSubject(row.tenant, row.user_name or None), row.amounts) for row in rows)
