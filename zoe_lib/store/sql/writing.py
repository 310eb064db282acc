"""Writing executions: a new one, and events with their projection."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.events import Event, Submitted
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.lifecycle import apply
from zoe_lib.store.base import ConcurrentUpdate, IdempotencyConflict, NotFound, NotLeader
from zoe_lib.store.documents import Applications
from zoe_lib.store.rows import changed_services, changing_values, fixed_values
from zoe_lib.store.sql import executions as reading
from zoe_lib.store.sql import journal
from zoe_lib.store.tables import executions, idempotency_keys, services

_NEW_EXECUTION = insert(executions).on_conflict_do_nothing().returning(executions.c.id)
_NEW_KEY = insert(idempotency_keys).on_conflict_do_nothing().returning(idempotency_keys.c.key)
_SERVICE = insert(services)
_SERVICE_STATE = (
    *("state", "node", "backend_id", "not_before_s"),
    *("started_at_s", "ready_at_s", "ended_at_s", "exit_code", "cause", "message"),
)
_CHANGED_SERVICE = _SERVICE.on_conflict_do_update(
    index_elements=[services.c.id], set_={name: _SERVICE.excluded[name] for name in _SERVICE_STATE}
)
# The lock makes a new leader wait for this transaction, and this transaction for a new leader's.
_EPOCH = text("SELECT epoch FROM leader WHERE id = 1 FOR SHARE")


def submit(
    connection: Connection,
    applications: Applications,
    execution: Execution,
    cause_id: str,
    idempotency_key: str | None,
    fingerprint: str,
) -> Execution:
    """Write a new execution, or find the one that an earlier call of the same kind has written."""
    if idempotency_key is not None and not _take_key(connection, execution, idempotency_key, fingerprint):
        return _of_key(connection, applications, execution.tenant, idempotency_key, fingerprint)
    event = Submitted(at_s=execution.submitted_at_s, cause_id=cause_id)
    new = apply(execution, event)
    name, document = applications.keep(new.application)
    values = {**fixed_values(new, name), **changing_values(new), "application": document}
    if connection.execute(_NEW_EXECUTION, values).first() is None:
        return _same(reading.one(connection, applications, execution.id), execution)
    connection.execute(_SERVICE, list(changed_services((), new)))
    journal.write_events(connection, new, [event])
    return new


def _take_key(connection: Connection, execution: Execution, key: str, fingerprint: str) -> bool:
    """Waits while another transaction has written the same key and not yet ended."""
    values = {
        "tenant": execution.tenant,
        "key": key,
        "fingerprint": fingerprint,
        "execution_id": execution.id,
        "at_s": execution.submitted_at_s,
    }
    return connection.execute(_NEW_KEY, values).first() is not None


def _of_key(connection: Connection, applications: Applications, tenant: str, key: str, fingerprint: str) -> Execution:
    columns = (idempotency_keys.c.fingerprint, idempotency_keys.c.execution_id)
    mine = (idempotency_keys.c.tenant == tenant, idempotency_keys.c.key == key)
    row = connection.execute(select(*columns).where(*mine)).one()
    if row.fingerprint != fingerprint:
        raise IdempotencyConflict(f"the idempotency key {key!r} was used for another request")
    return reading.one(connection, applications, row.execution_id)


def _same(stored: Execution, execution: Execution) -> Execution:
    if (stored.tenant, stored.user, stored.application) != (execution.tenant, execution.user, execution.application):
        raise ConcurrentUpdate(f"the execution id {execution.id} is taken")
    return stored


def append(
    connection: Connection,
    applications: Applications,
    before: Execution,
    events: Sequence[Event],
) -> Execution:
    """Apply events to what the caller believes is stored; ConcurrentUpdate or NotFound when it is not."""
    after = before
    for event in events:
        after = apply(after, event)
    unchanged = (executions.c.id == before.id, executions.c.version == before.version)
    if connection.execute(update(executions).where(*unchanged), changing_values(after)).rowcount != 1:
        current(connection, applications, before.id, before.version)
    if changed := list(changed_services(before.services, after)):
        connection.execute(_CHANGED_SERVICE, changed)
    journal.write_events(connection, after, events)
    return after


def current(connection: Connection, applications: Applications, execution_id: str, version: int) -> Execution:
    """The stored execution, kept from changing until the transaction ends; NotFound, ConcurrentUpdate."""
    lock = select(executions.c.version).where(executions.c.id == execution_id).with_for_update(key_share=True)
    stored = connection.execute(lock).scalar_one_or_none()
    if stored is None:
        raise NotFound(f"there is no execution {execution_id}")
    if stored != version:
        raise ConcurrentUpdate(f"execution {execution_id} has version {stored}, not {version}")
    return reading.one(connection, applications, execution_id)


def check_leader(connection: Connection, leader_epoch: int | None) -> None:
    """NotLeader unless the epoch is the newest, which it stays until the transaction ends."""
    if leader_epoch is None:
        return
    newest = connection.execute(_EPOCH).scalar_one_or_none()
    if newest != leader_epoch:
        raise NotLeader(f"epoch {leader_epoch} is over: the newest is {newest}")
