"""Schedules, their due times, and the outcomes of their times."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, desc, func, or_, select, union_all, update
from sqlalchemy.dialects.postgresql import distinct_on, insert

from zoe_client.vocabulary import RunKind, ScheduleOutcome
from zoe_lib.schedules.turns import BACK_S
from zoe_lib.schedules.values import Schedule, ScheduleRun
from zoe_lib.store.documents.rows import Values, from_row
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import AlreadyMade, NotFound, TooManyStored
from zoe_lib.store.sql.visible.people import check_member
from zoe_lib.store.sql.visible.stored_applications import free_name
from zoe_lib.store.tables.accounts import tenants
from zoe_lib.store.tables.arrays import arrays
from zoe_lib.store.tables.executions import executions
from zoe_lib.store.tables.schedules import schedule_runs, schedules
from zoe_lib.store.tables.workflows import workflow_arrays, workflow_steps

RUNS_KEPT, RUNS_SHOWN = 1000, 100
"""Stored, and shown, outcomes of the last times of each schedule."""
_S, _R = schedules.c, schedule_runs.c
_KEPT = ("id", "made_at_s", "held", "held_by_operator", "count")
_ENDED = ("succeeded", "failed", "cancelled")


def put(connection: Connection, schedule: Schedule, most: int) -> Schedule:
    """Store a schedule and return it; a schedule with the same owner and name keeps its id, its history, and its hold.

    It ends with the membership of its user. Raises NotFound without a membership, and TooManyStored.
    """
    check_names(schedule.tenant, schedule.user, schedule.name)
    connection.execute(select(tenants.c.name).where(tenants.c.name == schedule.tenant).with_for_update())
    check_member(connection, schedule.user, schedule.tenant)
    others = and_(_is_owned_by(schedule.tenant, schedule.user), _S.name != schedule.name)
    if connection.execute(select(func.count()).select_from(schedules).where(others)).scalar_one() >= most:
        raise TooManyStored(f"{schedule.user} has {most} schedules, which is the maximum; remove one")
    values = _values(schedule)
    changes: Values = {name: given for name, given in values.items() if name not in _KEPT}
    upsert = (
        insert(schedules)
        .values(values)
        .on_conflict_do_update(
            index_elements=[_S.tenant, _S.user_name, _S.name], set_=changes | {"count": _S.count + 1}
        )
        .returning(schedules)
    )
    return from_row(Schedule, connection.execute(upsert).one())


def read(connection: Connection, tenant: str, user: str | None, limit: int) -> Sequence[Schedule]:
    """Return a user's schedules in a tenant (None: all users'), by name."""
    if not storable(tenant, user):
        return ()
    whose = _S.tenant == tenant if user is None else _is_owned_by(tenant, user)
    found = select(schedules).where(whose).order_by(_S.user_name, _S.name).limit(limit)
    return [from_row(Schedule, row) for row in connection.execute(found)]


def read_schedule(connection: Connection, tenant: str, user: str, name: str) -> Schedule:
    """Return one schedule; NotFound."""
    _check(storable(tenant, user, name), user, name)
    row = connection.execute(select(schedules).where(_is_owned_by(tenant, user), _S.name == name)).first()
    _check(row is not None, user, name)
    return from_row(Schedule, row)


def change(connection: Connection, was: Schedule, after: Schedule) -> Schedule:
    """Store a changed schedule; AlreadyMade if it was changed or has run in between."""
    made = replace(after, count=was.count + 1)
    found = update(schedules).where(_S.id == was.id, _S.count == was.count).values(_values(made))
    if connection.execute(found).rowcount != 1:
        raise AlreadyMade(f"the schedule {was.name} was changed concurrently")
    return made


def remove(connection: Connection, tenant: str, user: str, name: str) -> None:
    """Remove a schedule with its history; its runs continue. NotFound."""
    _check(storable(tenant, user, name), user, name)
    _check(
        connection.execute(delete(schedules).where(_is_owned_by(tenant, user), _S.name == name)).rowcount == 1,
        user,
        name,
    )


def due(connection: Connection, now_s: float, limit: int) -> Sequence[Schedule]:
    """Return due schedules, the longest due first."""
    wanted = or_(_S.next_at_s <= now_s, _S.planned_at_s > now_s + BACK_S)
    found = select(schedules).where(~_S.held, _S.next_at_s.is_not(None), wanted).order_by(_S.next_at_s, _S.id)
    return [from_row(Schedule, row) for row in connection.execute(found.limit(limit))]


def next_at_s(connection: Connection) -> float | None:
    """Return the next time at which a schedule is due."""
    found: float | None = connection.execute(select(func.min(_S.next_at_s)).where(~_S.held)).scalar_one()
    return found


def advance(
    connection: Connection, was: Schedule, due_s: float | None, planned_at_s: float, runs: Sequence[ScheduleRun]
) -> None:
    """Record outcomes of times, and the next time. AlreadyMade, so that the transaction changes nothing, if another
    writer was faster, or if one of these times has an outcome.
    """
    next_s = was.made_s(due_s)
    found = (
        update(schedules)
        .where(_S.id == was.id, _S.count == was.count)
        .values(due_s=due_s, next_at_s=next_s, planned_at_s=planned_at_s, count=was.count + 1)
    )
    if connection.execute(found).rowcount != 1:
        raise AlreadyMade(f"the schedule {was.name} was changed concurrently")
    for run in runs:
        note(connection, run)


def note(connection: Connection, run: ScheduleRun) -> None:
    """Record the outcome of a time, or of a run by a user; AlreadyMade for a time that has one."""
    noted = insert(schedule_runs).values(asdict(run)).on_conflict_do_nothing().returning(_R.id)
    if connection.execute(noted).first() is None and run.outcome is not ScheduleOutcome.MISSED:
        raise AlreadyMade("this time has an outcome already")
    kept = select(_R.id).where(_R.schedule_id == run.schedule_id).order_by(_R.id.desc()).offset(RUNS_KEPT).limit(1)
    old = connection.execute(kept).scalar_one_or_none()
    if old is not None:
        connection.execute(delete(schedule_runs).where(_R.schedule_id == run.schedule_id, _R.id <= old))


def note_backfilled(connection: Connection, run: ScheduleRun, again: Collection[str] = ()) -> None:
    """Record that a past time was run, in place of its earlier outcome without a run, or of one of these runs;
    AlreadyMade if it has run otherwise.
    """
    ran = [ScheduleOutcome.MADE.value, ScheduleOutcome.BACKFILLED.value]
    replaced = or_(_R.outcome.not_in(ran), _R.run_id.in_(list(again)))
    dead = delete(schedule_runs).where(_R.schedule_id == run.schedule_id, _R.due_s == run.due_s, replaced)
    connection.execute(dead)
    note(connection, run)


def runs(connection: Connection, schedule_id: str) -> Sequence[ScheduleRun]:
    """Return the outcomes of its last hundred times, the newest first."""
    return known_runs(connection, schedule_id, RUNS_SHOWN)


def known_runs(connection: Connection, schedule_id: str, most: int = RUNS_KEPT) -> Sequence[ScheduleRun]:
    """Return the outcomes of all stored times, the newest first."""
    found = select(schedule_runs).where(_R.schedule_id == schedule_id).order_by(_R.id.desc()).limit(most)
    return [_run(row) for row in connection.execute(found)]


def last_runs(connection: Connection, ids: Collection[str]) -> Mapping[str, ScheduleRun]:
    """Return the last outcome of each of these schedules."""
    found = (
        select(schedule_runs)
        .where(_R.schedule_id.in_(list(ids)))
        .ext(distinct_on(_R.schedule_id))
        .order_by(_R.schedule_id, _R.id.desc())
    )
    return {row.schedule_id: _run(row) for row in connection.execute(found)}


def unfinished_runs(connection: Connection, schedule_id: str) -> Sequence[ScheduleRun]:
    """Return its last runs that have not ended, the newest first, without backfilled ones."""
    execution = select(executions.c.id).where(executions.c.id == _R.run_id, executions.c.state.not_in(_ENDED))
    array = select(arrays.c.id).where(arrays.c.id == _R.run_id, arrays.c.ended_at_s.is_(None))
    joined = workflow_steps.join(executions, executions.c.id == workflow_steps.c.execution_id)
    step = select(executions.c.id).select_from(joined)
    step = step.where(workflow_steps.c.workflow_id == _R.run_id, executions.c.state.not_in(_ENDED))
    mapped = select(arrays.c.id).select_from(workflow_arrays.join(arrays, arrays.c.id == workflow_arrays.c.array_id))
    mapped = mapped.where(workflow_arrays.c.workflow_id == _R.run_id, arrays.c.ended_at_s.is_(None))
    goes_on = or_(
        and_(_R.kind == RunKind.EXECUTION.value, execution.exists()),
        and_(_R.kind == RunKind.ARRAY.value, array.exists()),
        and_(_R.kind == RunKind.WORKFLOW.value, or_(step.exists(), mapped.exists())),
    )
    found = (
        select(schedule_runs)
        .where(_R.schedule_id == schedule_id, _R.outcome == ScheduleOutcome.MADE.value, goes_on)
        .order_by(_R.id.desc())
    )
    return [_run(row) for row in connection.execute(found)]


def executions_of(connection: Connection, run: ScheduleRun) -> Sequence[str]:
    """Return the ids of a run's unfinished executions; the last steps of a workflow first."""
    if run.kind is not RunKind.WORKFLOW:
        return [run.run_id or ""]
    joined = workflow_steps.join(executions, executions.c.id == workflow_steps.c.execution_id)
    steps = select(executions.c.id, workflow_steps.c.position).select_from(joined)
    steps = steps.where(workflow_steps.c.workflow_id == run.run_id, executions.c.state.not_in(_ENDED))
    mapped = select(arrays.c.id, workflow_arrays.c.position)
    mapped = mapped.select_from(workflow_arrays.join(arrays, arrays.c.id == workflow_arrays.c.array_id))
    mapped = mapped.where(workflow_arrays.c.workflow_id == run.run_id, arrays.c.ended_at_s.is_(None))
    found = union_all(steps, mapped).order_by(desc("position"))
    return connection.execute(found).scalars().all()


def hand_over(connection: Connection, tenant: str, user: str, to: str) -> int:
    """Transfer all schedules of a user to another member, under other names where these are taken; return how many."""
    names = connection.execute(select(_S.name).where(_is_owned_by(tenant, user))).scalars().all()
    taken = set(connection.execute(select(_S.name).where(_is_owned_by(tenant, to))).scalars())
    for name in names:
        free = free_name(name, taken)
        taken.add(free)
        given = update(schedules).where(_is_owned_by(tenant, user), _S.name == name)
        connection.execute(given.values(user_name=to, name=free, count=_S.count + 1))
    return len(names)


def _run(row: Row[tuple[object, ...]]) -> ScheduleRun:
    found = from_row(ScheduleRun, row)
    kind = None if found.kind is None else RunKind(found.kind)
    return replace(found, outcome=ScheduleOutcome(found.outcome), kind=kind)


def _values(schedule: Schedule) -> Values:
    values = asdict(schedule)
    values["user_name"] = values.pop("user")
    return values


def _check(found: bool, user: str, name: str) -> None:
    if not found:
        raise NotFound(f"{user} has no schedule {name[:64]!r}")


def _is_owned_by(tenant: str, user: str) -> ColumnElement[bool]:
    return and_(_S.tenant == tenant, _S.user_name == user)
