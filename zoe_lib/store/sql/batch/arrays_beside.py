"""Write arrays in the transaction of a batch of executions, such as those of a workflow."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, insert, select

from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.documents.text import check_array
from zoe_lib.store.sql.batch import arrays as rows
from zoe_lib.store.tables.accounts import tenants
from zoe_lib.store.tables.executions import idempotency_keys
from zoe_lib.store.values import ArraysBeside

Write = Callable[[Connection], None]


def locks_of(applications: Applications, arrays: ArraysBeside | None) -> Write | None:
    """Return a function that locks the rows to be changed later: executions take the lock of the journal, after which
    no other lock may be awaited. None if there is nothing to lock.
    """
    if arrays is None or not (arrays.new or arrays.changes):
        return None

    def lock(connection: Connection) -> None:
        rows.locked_of(connection, applications, list(arrays.changes))
        owners = {array.tenant for array in arrays.new}
        if owners:
            wanted = select(tenants).where(tenants.c.name.in_(owners)).order_by(tenants.c.name)
            connection.execute(wanted.with_for_update(key_share=True)).all()

    return lock


def writer(
    applications: Applications, arrays: ArraysBeside | None, cause_id: str, beside: Write | None
) -> Write | None:
    """Return a function that writes the arrays, and then calls `beside`; None if there is nothing to write."""
    if arrays is None or not (arrays.new or arrays.changes):
        return beside
    for array in arrays.new:
        check_array(array, cause_id, None, "")

    def write(connection: Connection) -> None:
        for array in arrays.new:
            rows.submit(connection, applications, array, cause_id, None, "", None)
        for array_id, decide in arrays.changes.items():
            rows.change(connection, applications, array_id, decide, arrays.at_s, cause_id)
        if beside is not None:
            beside(connection)

    return write


def keep_key(connection: Connection, tenant: str, key: str, fingerprint: str, array_id: str, at_s: float) -> None:
    """Assign a key to a change of an array, so that a repeated request finds it; IntegrityError if the key is taken."""
    values = {"tenant": tenant, "key": key, "fingerprint": fingerprint, "execution_id": array_id, "at_s": at_s}
    connection.execute(insert(idempotency_keys).values(values))
