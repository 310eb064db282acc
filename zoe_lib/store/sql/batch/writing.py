"""Write events with their projection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.documents.rows import changed_columns, changed_services, changing_values
from zoe_lib.store.errors import ConcurrentUpdate, NotFound, NotLeader
from zoe_lib.store.sql.batch import workflows
from zoe_lib.store.sql.executions import executions as reading
from zoe_lib.store.sql.journal import journal
from zoe_lib.store.sql.visible import shares
from zoe_lib.store.tables.executions import executions, services

_SERVICE = insert(services)
SERVICE_STATE = (
    *("cores_milli", "memory_bytes", "devices", "state", "node", "backend_id", "not_before_s"),
    *("started_at_s", "ready_at_s", "ended_at_s", "exit_code", "cause", "message", "left_files"),
)
_CHANGED_SERVICE = _SERVICE.on_conflict_do_update(
    index_elements=[services.c.id], set_={name: _SERVICE.excluded[name] for name in SERVICE_STATE}
)
# The lock makes a new leader wait for this transaction, and this transaction wait for a new leader's.
_EPOCH = text("SELECT epoch FROM leader WHERE id = 1 FOR SHARE")


def append(
    connection: Connection,
    applications: Applications,
    before: Execution,
    events: Sequence[Event],
    after: Execution | None = None,
) -> Execution:
    """Apply events to the caller's version of the execution; ConcurrentUpdate or NotFound if it is not stored.

    `after` is the resulting state, if known.
    """
    if after is None:
        after = reduce(apply, events, before)
    if after.application is not before.application:
        applications.keep(after.application)
    unchanged = (executions.c.id == before.id, executions.c.version == before.version)
    values = changing_values(after, changed_columns(before, after))
    if connection.execute(update(executions).where(*unchanged), values).rowcount != 1:
        current(connection, applications, before.id, before.version)
    if after.user != before.user:
        shares.transfer_to(connection, after.id, after.user)
        workflows.transfer_to(connection, after.id, after.user)
    if changed := list(changed_services(before, after)):
        connection.execute(_CHANGED_SERVICE, changed)
    journal.write_events(connection, after, events)
    return after


def current(connection: Connection, applications: Applications, execution_id: str, version: int) -> Execution:
    """Return the stored execution, locked until the transaction ends; NotFound, ConcurrentUpdate."""
    lock = select(executions.c.version).where(executions.c.id == execution_id).with_for_update(key_share=True)
    stored = connection.execute(lock).scalar_one_or_none()
    if stored is None:
        raise NotFound(f"execution {execution_id} does not exist")
    if stored != version:
        raise ConcurrentUpdate(f"execution {execution_id} has version {stored}, not {version}")
    return reading.read_execution(connection, applications, execution_id)


def check_leader(connection: Connection, leader_epoch: int | None) -> None:
    """Raise NotLeader unless the epoch is the newest; it stays so until the transaction ends."""
    if leader_epoch is None:
        return
    newest = connection.execute(_EPOCH).scalar_one_or_none()
    if newest != leader_epoch:
        raise NotLeader(f"epoch {leader_epoch} has ended: the newest is {newest}")
