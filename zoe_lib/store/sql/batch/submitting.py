"""Write new executions, any number in one statement, because each round trip to the database counts here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, Table, delete, exists, func, select, text

from zoe_lib.domain.executions.events import Submitted, submission_event
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.limits import EVERY
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.conditions import NO_CONDITIONS
from zoe_lib.store.documents.codec import Json, event_data
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.documents.rows import CHANGING_COLUMNS, Values, changed_services, changing_values, fixed_values
from zoe_lib.store.documents.text import shown_key
from zoe_lib.store.errors import BatchRefused, ConcurrentUpdate, IdempotencyConflict, QuotaExceeded, TimeLimitTooLong
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.quotas import apply_limits, same_submission
from zoe_lib.store.sql.billing.limits import of_submission
from zoe_lib.store.sql.connection.prepared import Prepared
from zoe_lib.store.sql.executions import executions as reading
from zoe_lib.store.sql.journal.journal import CHANNEL, JOURNAL_LOCK
from zoe_lib.store.sql.visible.audit import values_of as audit_values
from zoe_lib.store.tables.accounts import audit, tenants
from zoe_lib.store.tables.executions import NOT_TERMINAL, executions, idempotency_keys, services


@dataclass(slots=True)
class Submission:
    """A new execution with its key; `written` is false while another one holds its key or its id.

    `bounded`: limits of its tenant may apply to it, so it needs a transaction that checks them. `position`: a journal
    id not before its own; None while it is not written.
    """

    execution: Execution  # in its stored form
    cause_id: str
    application_hash: str
    application: Values
    key: str | None
    fingerprint: str
    audit: AuditEntry | None = None
    written: bool = field(default=False)
    bounded: bool = field(default=False)
    position: int | None = field(default=None)


def _columns(table: Table) -> str:
    return ", ".join(table.c.keys())


def _rows(table: Table, parameter: str) -> str:
    return f"jsonb_populate_recordset(NULL::{table.name}, :{parameter})"


# The document and its hash are known already.
_CHANGING_BUT_APPLICATION = tuple(name for name in CHANGING_COLUMNS if not name.startswith("application"))
_AUDITED = ", ".join(f'"{column.name}"' for column in audit.c if column.name != "id")

# First the executions that have no key or obtain it, then their services. The journal comes last: its lock is taken
# when everything else is written (the count needs it), so that it is held for the shortest time and no transaction
# waits for a key while holding it. Inserts detect conflicts, never a join: a plan made while a table was small would
# read all of it until the server counts its rows anew, which may be thousands of submissions later.
_SUBMIT = Prepared(
    "zoe_submit",
    {
        "tenants": "text[]",
        "within": "boolean",
        **dict.fromkeys(("executions", "services", "keys", "causes", "events", "audits"), "jsonb"),
    },
    f"""
    WITH bounded AS MATERIALIZED (
        SELECT name FROM unnest(:tenants) AS name
        WHERE NOT :within AND EXISTS (
            SELECT FROM limits WHERE tenant IN (name, '{EVERY}')
            AND num_nonnulls(amounts ->> 'executions', amounts ->> 'time_limit_s') > 0
        )
    ), asked AS MATERIALIZED (
        SELECT * FROM {_rows(idempotency_keys, "keys")} WHERE tenant NOT IN (SELECT name FROM bounded)
    ), keyed AS (
        INSERT INTO idempotency_keys ({_columns(idempotency_keys)})
        SELECT {_columns(idempotency_keys)} FROM asked ORDER BY asked.tenant, asked.key
        ON CONFLICT DO NOTHING RETURNING execution_id
    ), fresh AS (
        INSERT INTO executions ({_columns(executions)})
        SELECT {_columns(executions)} FROM {_rows(executions, "executions")}
        WHERE (id NOT IN (SELECT execution_id FROM asked) OR id IN (SELECT execution_id FROM keyed))
              AND tenant NOT IN (SELECT name FROM bounded)
        ON CONFLICT DO NOTHING RETURNING id, tenant, submitted_at_s
    ), parts AS (
        INSERT INTO services ({_columns(services)})
        SELECT {_columns(services)} FROM {_rows(services, "services")}
        WHERE execution_id IN (SELECT id FROM fresh) RETURNING 1
    ), locked AS MATERIALIZED (
        SELECT pg_advisory_xact_lock({JOURNAL_LOCK})
        FROM (SELECT (SELECT count(*) FROM fresh) + (SELECT count(*) FROM parts) AS written) AS rows
        WHERE written > 0
    ), entries AS (
        INSERT INTO journal (execution_id, tenant, version, kind, at_s, cause_id, data)
        SELECT fresh.id, fresh.tenant, 1, '{Submitted.kind}', fresh.submitted_at_s,
               :causes ->> fresh.id, coalesce(:events -> fresh.id, '{{}}')
        FROM locked, fresh ORDER BY fresh.submitted_at_s, fresh.id
        RETURNING id
    ), audited AS (
        INSERT INTO audit ({_AUDITED})
        SELECT {_AUDITED} FROM jsonb_each(:audits) AS entry (execution_id, document),
                               jsonb_populate_record(NULL::audit, document)
        WHERE execution_id IN (SELECT id FROM fresh)
    )
    SELECT id, NULL AS bounded, NULL AS unused, (SELECT max(entries.id) FROM entries) AS newest,
           pg_notify('{CHANNEL}', '') FROM fresh
    UNION ALL SELECT NULL, name, NULL, NULL, NULL FROM bounded
    UNION ALL SELECT NULL, NULL, execution_id, NULL, NULL FROM keyed WHERE execution_id NOT IN (SELECT id FROM fresh)
    """,  # noqa: S608 - made of names of tables and constants
)


def prepare(
    applications: Applications,
    execution: Execution,
    cause_id: str,
    key: str | None,
    fingerprint: str,
    entry: AuditEntry | None = None,
) -> Submission:
    """Return the rows of a fresh execution."""
    stored = apply(execution, submission_event(execution, cause_id))
    name, document = applications.keep(stored.application)
    return Submission(stored, cause_id, name, document, key, fingerprint, entry)


def write(connection: Connection, submissions: Sequence[Submission], within: bool = False) -> None:
    """Write and mark the submissions whose key and id are free. The ids must differ from each other.

    Submissions of a tenant with such limits are only marked as `bounded`, unless they are known to be `within`.
    """
    # The same order everywhere, so that two processes with the same keys cannot deadlock.
    ordered = sorted(
        submissions, key=lambda submission: (submission.execution.tenant, submission.key or "", submission.execution.id)
    )
    parameters = {
        "executions": [_execution_values(submission) for submission in ordered],
        "services": [row for submission in ordered for row in changed_services(None, submission.execution)],
        "keys": [_key_values(submission) for submission in ordered if submission.key is not None],
        "causes": {submission.execution.id: submission.cause_id for submission in ordered},
        "events": {
            submission.execution.id: data for submission in ordered if (data := _data_of_event(submission.execution))
        },
        "audits": {
            submission.execution.id: audit_values(submission.audit)
            for submission in ordered
            if submission.audit is not None
        },
    }
    texts = {name: json.dumps(value) for name, value in parameters.items()}
    owners = sorted({submission.execution.tenant for submission in ordered})
    rows = _SUBMIT.rows(connection, **texts, within=within, tenants=owners)
    written, bounded = {row.id: row.newest for row in rows}, {row.bounded for row in rows}
    if unused := {row.unused for row in rows} - {None}:
        _remove_keys(connection, [submission for submission in ordered if submission.execution.id in unused])
    for submission in submissions:
        submission.written = submission.execution.id in written
        submission.position = written.get(submission.execution.id)
        submission.bounded = submission.execution.tenant in bounded


def _remove_keys(connection: Connection, submissions: Sequence[Submission]) -> None:
    """Remove the keys of executions with a taken id: ids are random, so this hardly ever happens."""
    for submission in submissions:
        same_key = (idempotency_keys.c.tenant == submission.execution.tenant, idempotency_keys.c.key == submission.key)
        connection.execute(delete(idempotency_keys).where(*same_key))


def write_within_limits(connection: Connection, applications: Applications, submission: Submission) -> Submission:
    """Write one submission with the limits of its tenant applied, and return it; QuotaExceeded, TimeLimitTooLong.

    The tenant's row is locked first, so that of two concurrent submissions the second counts the first; a change of
    these limits comes before or after. An earlier submission with the same key or id is not refused: this one is left
    unwritten, as in `write`.
    """
    requested = submission.execution
    lock = select(tenants).where(tenants.c.name == requested.tenant).with_for_update(key_share=True)
    connection.execute(lock)
    if not _is_stored(connection, submission):
        counts = select(func.count(), func.count().filter(executions.c.user_name == requested.user))
        active = connection.execute(counts.where(executions.c.tenant == requested.tenant, text(NOT_TERMINAL))).one()
        execution = apply_limits(requested, of_submission(connection, requested), *active)
        name, document = applications.keep(execution.application)
        submission = replace(submission, execution=execution, application_hash=name, application=document)
    write(connection, [submission], within=True)
    return submission


def write_all(
    connection: Connection,
    applications: Applications,
    submissions: Sequence[Submission],
    beside: Callable[[Connection], None] | None = None,
    locks: Callable[[Connection], None] | None = None,
) -> Sequence[Submission]:
    """Write the submissions of one tenant, all or none, and return them as stored; BatchRefused, IdempotencyConflict.

    If all were submitted before, none is written. If only some were, their keys belong to another batch. `beside`
    writes further rows after them. `locks` takes its locks before all others.
    """
    if locks is not None:
        locks(connection)
    write(connection, submissions)
    stored = list(submissions)
    for index, submission in enumerate(submissions):
        if submission.bounded:
            try:
                stored[index] = write_within_limits(connection, applications, submission)
            except (QuotaExceeded, TimeLimitTooLong) as refusal:
                raise BatchRefused(index, refusal) from refusal
    if len({submission.written for submission in stored}) > 1:
        raise IdempotencyConflict("the idempotency key was used for a different request")
    if beside is not None and all(submission.written for submission in stored):
        beside(connection)
    return stored


def _is_stored(connection: Connection, submission: Submission) -> bool:
    wanted = submission.execution
    same_id = select(executions.c.id).where(executions.c.id == wanted.id)
    same_key = select(idempotency_keys.c.key).where(
        idempotency_keys.c.tenant == wanted.tenant, idempotency_keys.c.key == submission.key
    )
    return connection.execute(select(exists(same_id) | exists(same_key))).scalar_one() is True


def existing_execution(connection: Connection, applications: Applications, submission: Submission) -> Execution:
    """Return the execution that an earlier call wrote in place of this one; IdempotencyConflict, ConcurrentUpdate."""
    wanted = submission.execution
    if submission.key is not None:
        earlier = with_key(connection, applications, wanted.tenant, submission.key, submission.fingerprint)
        if earlier is not None:
            return earlier
    stored = reading.read_execution(connection, applications, wanted.id)
    if not same_submission(stored, wanted):
        raise ConcurrentUpdate(f"the execution id {wanted.id} already exists")
    return stored


def with_key(
    connection: Connection, applications: Applications, tenant: str, key: str, fingerprint: str
) -> Execution | None:
    """Return that tenant's execution with that key; IdempotencyConflict."""
    columns = (idempotency_keys.c.fingerprint, idempotency_keys.c.execution_id)
    same_key = (idempotency_keys.c.tenant == tenant, idempotency_keys.c.key == key)
    row = connection.execute(select(*columns).where(*same_key)).one_or_none()
    if row is None:
        return None
    if row.fingerprint != fingerprint:
        raise IdempotencyConflict(f"the idempotency key {shown_key(key)!r} was used for a different request")
    return reading.read_execution(connection, applications, row.execution_id)


def _data_of_event(execution: Execution) -> Json:
    """Return the data of the event, None if there are none, which is nearly always so."""
    return None if execution.conditions == NO_CONDITIONS else event_data(submission_event(execution))


def _execution_values(submission: Submission) -> Values:
    values = {
        **fixed_values(submission.execution),
        **changing_values(submission.execution, _CHANGING_BUT_APPLICATION),
    }
    return {**values, "application_hash": submission.application_hash, "application": submission.application}


def _key_values(submission: Submission) -> Values:
    return {
        "tenant": submission.execution.tenant,
        "key": submission.key,
        "fingerprint": submission.fingerprint,
        "execution_id": submission.execution.id,
        "at_s": submission.execution.submitted_at_s,
    }
