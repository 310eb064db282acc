"""Targets of notifications, and their unsent events of the journal.

One reader of the journal marks the targets with possible news; each target is then notified at its own pace, from the
journal itself. So no row is stored for each notification, however long a target is away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    Text,
    and_,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert

from zoe_client.vocabulary import NotificationKind, ScheduleOutcome
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import ArrayEventKind
from zoe_lib.domain.executions.notifications import Notification, ScheduleRefusal
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.store.documents.codec import decode
from zoe_lib.store.documents.rows import Row, from_row
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import NotFound, TooManyTargets
from zoe_lib.store.people import NotificationTarget
from zoe_lib.store.sql.journal.journal import last_id
from zoe_lib.store.sql.visible.people import check_member
from zoe_lib.store.tables.accounts import notification_progress, notification_targets, tenants, users
from zoe_lib.store.tables.arrays import arrays
from zoe_lib.store.tables.executions import executions, journal
from zoe_lib.store.tables.schedules import schedule_runs, schedules

KINDS = {
    ev.Submitted.kind: NotificationKind.SUBMITTED,
    ev.Running.kind: NotificationKind.STARTED,
    ev.Requeued.kind: NotificationKind.REQUEUED,
    ev.DeadlineMissed.kind: NotificationKind.DEADLINE_MISSED,
}
"""Kinds of notifications by kind of event; ends are named by their resulting state."""
ENDS = (ev.Ended.kind, ev.Refused.kind)
_EVENTS = (*KINDS, *ENDS)
_T = notification_targets.c
_KEPT = ("done_id", "news_id", "refusals_id", "id")
_TOLD_OF_REFUSALS = NotificationKind.FAILED
"""A target for failures also gets a schedule's refused times."""
_IS_NEW = text("""
    WITH fresh AS (
        SELECT tenant, user_name, min(id) AS first_id, max(id) AS last_id
        FROM (
            SELECT executions.tenant, executions.user_name, journal.id
            FROM journal JOIN executions ON executions.id = journal.execution_id
            WHERE journal.id > :after_id AND journal.id <= :up_to AND journal.kind = ANY(:kinds)
            UNION ALL
            SELECT arrays.tenant, arrays.user_name, journal.id
            FROM journal JOIN arrays ON arrays.id = journal.execution_id
            WHERE journal.id > :after_id AND journal.id <= :up_to AND journal.kind = :array_ended
        ) AS entries
        GROUP BY 1, 2
    ), theirs AS (
        SELECT targets.id, min(fresh.first_id) AS first_id, max(fresh.last_id) AS last_id
        FROM notification_targets AS targets JOIN fresh ON fresh.tenant = targets.tenant
            AND (targets.user_name IS NULL OR targets.user_name = fresh.user_name)
        GROUP BY 1
    )
    UPDATE notification_targets AS targets SET
        done_id = CASE WHEN targets.news_id <= targets.done_id
                       THEN greatest(theirs.first_id - 1, targets.done_id) ELSE targets.done_id END,
        news_id = theirs.last_id
    FROM theirs WHERE theirs.id = targets.id AND theirs.last_id > targets.news_id
""")


def put(connection: Connection, target: NotificationTarget, most: int) -> NotificationTarget:
    """Store a target and return it; one with the same owner and name keeps its id, its secret and its position, and is
    tried anew. It ends with the membership of its user.

    Raises NotFound for an unknown tenant or without a membership, and TooManyTargets.
    """
    check_names(target.tenant, target.user or "", target.name)
    # Locked, so that no two calls take the last place.
    tenant = select(tenants.c.name).where(tenants.c.name == target.tenant).with_for_update(key_share=True)
    if connection.execute(tenant).first() is None:
        raise NotFound(f"tenant {target.tenant} does not exist")
    if target.user is not None:
        check_member(connection, target.user, target.tenant)
    others = and_(_is_owned_by(target.tenant, target.user), _T.name != target.name)
    if connection.execute(select(func.count()).select_from(notification_targets).where(others)).scalar_one() >= most:
        raise TooManyTargets(f"{target.user or target.tenant} has {most} targets, which is the maximum; remove one")
    now = last_id(connection)
    _begin(connection, now)
    refused = connection.execute(select(func.coalesce(func.max(schedule_runs.c.id), 0))).scalar_one()
    values = {**asdict(target), "done_id": now, "news_id": now, "refusals_id": refused, "kinds": list(target.kinds)}
    values["user_name"] = values.pop("user")
    upsert = (
        insert(notification_targets)
        .values(values)
        .on_conflict_do_update(
            index_elements=[_T.tenant, _T.user_name, _T.name],
            set_={name: given for name, given in values.items() if name not in _KEPT},
        )
        .returning(notification_targets)
    )
    return from_row(NotificationTarget, connection.execute(upsert).one())


def read(connection: Connection, tenant: str, user: str) -> Sequence[NotificationTarget]:
    """Return the tenant's targets and the user's own in it: those of the tenant first, then by name."""
    if not storable(tenant, user):
        return ()
    found = select(notification_targets).where(_T.tenant == tenant, or_(_T.user_name == user, _T.user_name.is_(None)))
    rows = connection.execute(found.order_by(_T.user_name.nulls_first(), _T.name))
    return [from_row(NotificationTarget, row) for row in rows]


def of_tenant(connection: Connection, tenant: str) -> Sequence[NotificationTarget]:
    """Return all targets in a tenant, including those of its users."""
    found = select(notification_targets).where(_T.tenant == tenant).order_by(_T.id)
    return [from_row(NotificationTarget, row) for row in connection.execute(found)]


def reseal(connection: Connection, was: NotificationTarget, sealed: bytes) -> bool:
    """Store the same secret sealed with another key; False, without a change, if the target no longer exists."""
    found = update(notification_targets).where(_T.id == was.id, _T.sealed == was.sealed).values(sealed=sealed)
    return connection.execute(found).rowcount == 1


def remove(connection: Connection, tenant: str, user: str | None, name: str) -> None:
    """Remove a target; NotFound."""
    _check(storable(tenant, user or "", name), tenant, user, name)
    found = connection.execute(delete(notification_targets).where(_is_owned_by(tenant, user), _T.name == name))
    _check(found.rowcount == 1, tenant, user, name)


def ask_for_test(connection: Connection, tenant: str, user: str | None, name: str) -> None:
    """Request a test notification at once, also for a stopped target; NotFound."""
    _check(storable(tenant, user or "", name), tenant, user, name)
    asked = (
        update(notification_targets).where(_is_owned_by(tenant, user), _T.name == name).values(test=True, next_at_s=0.0)
    )
    _check(connection.execute(asked).rowcount == 1, tenant, user, name)


def note_news(connection: Connection, limit: int) -> bool:
    """Read up to `limit` further entries of the journal, and mark the targets with possible news. Return whether there
    is more to read.
    """
    _begin(connection, last_id(connection))
    own = select(notification_progress.c.after_id).where(notification_progress.c.id == 1).with_for_update()
    after_id: int = connection.execute(own).scalar_one()
    if connection.execute(select(_T.id).limit(1)).first() is None:
        up_to, more = last_id(connection), False
    else:
        ids = select(journal.c.id).where(journal.c.id > after_id).order_by(journal.c.id).limit(limit).subquery()
        count, found = connection.execute(select(func.count(), func.max(ids.c.id)).select_from(ids)).one()
        up_to, more = found or after_id, count == limit
    if up_to > after_id:
        kinds = {"kinds": list(_EVENTS), "array_ended": ArrayEventKind.ENDED.value}
        connection.execute(_IS_NEW, {"after_id": after_id, "up_to": up_to, **kinds})
        connection.execute(update(notification_progress).values(after_id=up_to))
    return more


def due(connection: Connection, now_s: float, limit: int) -> Sequence[NotificationTarget]:
    """Return targets that are due, the longest waiting first; without those of disabled users."""
    disabled = select(users.c.name).where(users.c.name == _T.user_name, users.c.disabled).exists()
    news = or_(_T.news_id > _T.done_id, _refused_times(_T.tenant, _T.user_name, _T.refusals_id, _T.kinds).exists())
    told = or_(_T.test, and_(news, ~_T.stopped, _T.next_at_s <= now_s))
    found = select(notification_targets).where(told, ~disabled).order_by(_T.next_at_s, _T.id)
    return [from_row(NotificationTarget, row) for row in connection.execute(found.limit(limit))]


def notifications(connection: Connection, target: NotificationTarget, limit: int) -> Sequence[Notification]:
    """Return the next events that may concern a target, in the order of the journal."""

    def events_of(subjects: Table, kinds: Sequence[str], *columns: ColumnElement[Any]) -> Select[Any]:
        theirs = [subjects.c.tenant == target.tenant]
        if target.user is not None:
            theirs.append(subjects.c.user_name == target.user)
        return (
            select(journal.c.id.label("event_id"), journal.c.kind, journal.c.at_s, *columns, subjects)
            .join(subjects, subjects.c.id == journal.c.execution_id)
            .where(journal.c.id > target.done_id, journal.c.id <= target.news_id, journal.c.kind.in_(kinds), *theirs)
            .order_by(journal.c.id)
            .limit(limit)
        )

    found = [_notification(row) for row in connection.execute(events_of(executions, _EVENTS))]
    whole = events_of(arrays, [ArrayEventKind.ENDED.value], journal.c.data.label("ended"))
    found += [_of_array(row) for row in connection.execute(whole)]
    return sorted(found, key=lambda entry: entry.id)[:limit]


def refusals(connection: Connection, target: NotificationTarget, limit: int) -> Sequence[ScheduleRefusal]:
    """Return the next unsent refused times of schedules for a target, in order."""
    kinds = cast(list(target.kinds), JSONB)
    found = _refused_times(literal(target.tenant), literal(target.user, Text), literal(target.refusals_id), kinds)
    return [from_row(ScheduleRefusal, row) for row in connection.execute(found.order_by("id").limit(limit))]


def record_refusals_sent(
    connection: Connection, target_id: str, refusals_id: int, at_s: float, pause_s: float = 0.0
) -> None:
    """Record that refused times up to one were sent to a target, and pause it for `pause_s`."""
    told = {"failures": 0, "failing_since_s": None, "last_error": "", "told_at_s": at_s, "stopped": False}
    reached = {"refusals_id": func.greatest(_T.refusals_id, refusals_id), "next_at_s": at_s + pause_s}
    connection.execute(update(notification_targets).where(_T.id == target_id).values(**told, **reached))


def _refused_times(
    tenant: ColumnElement[Any], user: ColumnElement[Any], after_id: ColumnElement[Any], kinds: ColumnElement[Any]
) -> Select[Any]:
    """Return the statement of refused times after one: of a tenant, or of one user in it."""
    runs, one = schedule_runs.c, schedules.c
    columns = (runs.id, one.name.label("schedule"), one.user_name, one.tenant, runs.due_s, runs.at_s, runs.code)
    return (
        select(*columns, runs.message)
        .join_from(schedule_runs, schedules, one.id == runs.schedule_id)
        .where(runs.outcome == ScheduleOutcome.REFUSED.value, runs.id > after_id, runs.due_s.is_not(None))
        .where(one.tenant == tenant, or_(user.is_(None), one.user_name == user))
        .where(kinds.contains(cast([_TOLD_OF_REFUSALS.value], JSONB)))
    )


def record_sent(
    connection: Connection,
    target_id: str,
    done_id: int,
    at_s: float,
    pause_s: float = 0.0,
    sent: bool = True,
    tested: bool = False,
) -> None:
    """Record that all events up to one were sent to a target, and pause it for `pause_s`; not `sent`: none concerned
    it. `tested`: a test was sent; a test requested in between is another one.
    """
    told: dict[str, object] = {"done_id": func.greatest(_T.done_id, done_id), "next_at_s": at_s + pause_s}
    if sent:
        told |= {"failures": 0, "failing_since_s": None, "last_error": "", "told_at_s": at_s, "stopped": False}
    if tested:
        told["test"] = False
    connection.execute(update(notification_targets).where(_T.id == target_id).values(told))


def record_failure(
    connection: Connection,
    target_id: str,
    why: str,
    at_s: float,
    next_at_s: float,
    stopped: bool = False,
    tested: bool = False,
) -> None:
    """Record a failed try, and the time of the next one; `stopped`: there is none. `tested`: it was a test."""
    failed: dict[str, object] = {"failures": _T.failures + 1, "last_error": why, "next_at_s": next_at_s}
    failed |= {"failing_since_s": func.coalesce(_T.failing_since_s, at_s)}
    if stopped:
        failed["stopped"] = True
    if tested:
        failed["test"] = False
    connection.execute(update(notification_targets).where(_T.id == target_id).values(failed))


def _notification(row: Row) -> Notification:
    return Notification(
        id=row.event_id,
        kind=KINDS.get(row.kind) or NotificationKind(row.state),
        at_s=row.at_s,
        execution_id=row.id,
        name=row.name,
        user=row.user_name,
        tenant=row.tenant,
        state=row.state,
        exit_code=row.exit_code,
        cause=row.cause,
        message=row.message,
        submitted_at_s=row.submitted_at_s,
        started_at_s=row.started_at_s,
        ended_at_s=row.ended_at_s,
        missed=None if row.missed is None else decode(DeadlineMiss, row.missed),
        asked=tuple(row.application.get("notify", ())),
        in_array=row.array_id is not None,
    )


def _of_array(row: Row) -> Notification:
    state = row.ended["state"]
    return Notification(
        id=row.event_id,
        kind=NotificationKind(state),
        at_s=row.at_s,
        execution_id=row.id,
        name=row.name,
        user=row.user_name,
        tenant=row.tenant,
        state=state,
        exit_code=None,
        cause=None,
        message=row.message,
        submitted_at_s=row.submitted_at_s,
        started_at_s=None,
        ended_at_s=row.at_s,
        asked=tuple(row.application.get("notify", ())),
        counts=row.ended["counts"],
    )


def _begin(connection: Connection, at_id: int) -> None:
    """Read the journal from here on, unless reading has begun."""
    connection.execute(insert(notification_progress).values(id=1, after_id=at_id).on_conflict_do_nothing())


def _check(found: bool, tenant: str, user: str | None, name: str) -> None:
    if not found:
        raise NotFound(f"{user or tenant} has no target {name[:64]!r}")


def _is_owned_by(tenant: str, user: str | None) -> ColumnElement[bool]:
    return and_(_T.tenant == tenant, _T.user_name.is_not_distinct_from(user))
