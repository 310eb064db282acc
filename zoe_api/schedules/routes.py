"""Routes of schedules."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import Path, Query, Response

from zoe_api.access.access import AsReader, AsSubmitter, check
from zoe_api.access.visibility import note_look
from zoe_api.executions.submitting import IdempotencyKey
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.http.routing import api_router
from zoe_api.schedules.times import refused_times, wrong_ahead, wrong_times
from zoe_api.schedules.views import facts, next_times, run_views, schedule_view
from zoe_api.services.dependencies import Caller, checking
from zoe_client.wire import (
    BackfillRequest,
    BackfillView,
    Diagnostic,
    RunView,
    ScheduleDetail,
    ScheduleList,
    ScheduleRequest,
    ScheduleView,
)
from zoe_client.words.names import NAME
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.frozen import changed
from zoe_lib.schedules.run_times import RunTimes
from zoe_lib.schedules.turns import first_after
from zoe_lib.schedules.values import RunOptions, Schedule
from zoe_lib.store.people import Principal
from zoe_lib.submission import making
from zoe_lib.submission.backfilling import Backfill, backfill, runs_between
from zoe_lib.submission.refusal import SubmissionRefused
from zoe_lib.submission.scheduling import document_of, fill_times, run_now, times_of, why_refused

router = api_router("/schedules", tag="schedules")
Name = Annotated[str, Path(pattern=NAME, description="Name of the schedule.")]
OfUser = Annotated[str | None, Query(max_length=256, description="Another user's; for operators.")]
_LISTED_MAX = 1000
_ID_BYTES = 12
_FAILED = ("failed", "cancelled")
# Refusals that may no longer apply when the time comes.
_MAY_PASS = ("never_fits", "quota_exceeded", "budget_exceeded", "submissions_closed", "storage_guarantee_unavailable")


@router.get("", response_model=ScheduleList)
def list_schedules(
    caller: AsReader,
    all_users: Annotated[
        bool, Query(description="List the schedules of all users of the tenant; for operators.")
    ] = False,
) -> ScheduleList:
    """List your schedules in the tenant, a thousand at most, with the last result of each."""
    if all_users:
        check(caller.principal, Scope.OPERATE)
        note_look(caller, caller.request.url.path)
    store = caller.store.schedules
    found = store.read(caller.tenant, None if all_users else caller.user, _LISTED_MAX)
    last = store.last_runs([schedule.id for schedule in found])
    shown = dict(zip(last, run_views([*last.values()], caller.services), strict=True))
    return ScheduleList(schedules=[schedule_view(schedule, shown.get(schedule.id)) for schedule in found])


@router.get("/{name}", response_model=ScheduleDetail)
def show_schedule(name: Name, caller: AsReader, user: OfUser = None) -> ScheduleDetail:
    """Return a schedule with its document, its next times, and the results of its last hundred."""
    found = _visible_schedule(caller, name, user)
    runs = run_views(caller.store.schedules.runs(found.id), caller.services)
    return ScheduleDetail(
        **facts(found),
        last=runs[0] if runs else None,
        document=None if found.document is None else dict(found.document),
        next_times_s=next_times(found),
        runs=runs,
    )


@router.put("/{name}", response_model=ScheduleView)
def put_schedule(name: Name, body: ScheduleRequest, caller: AsSubmitter) -> ScheduleView:
    """Run something at the times of a cron expression, as yourself, replacing an earlier schedule of the name, whose
    history stays. Past times do not run.

    422 with all errors of times, document and parameters at once; places in the document begin with `/document` if
    times are wrong, too. Obstacles that may disappear until then, such as a spent budget, are notes. On days when
    clocks change, a skipped time runs when the clock is set forward, and a repeated one runs once, unless minutes or
    hours begin with `*`.
    """
    now_s = caller.services.clock.now_s()
    schedule = _schedule(name, body, caller.principal, now_s)
    wrong = wrong_times(body.expression, body.zone) or wrong_ahead(schedule, now_s)
    if not wrong:
        due_s = first_after(schedule, now_s)
        schedule = changed(schedule, due_s=due_s, next_at_s=schedule.made_s(due_s))
    with checking(caller):
        notes = _check_run(schedule, caller, wrong)
    kept = caller.store.schedules.put(schedule, caller.services.settings.schedules_max)
    return _as_listed(caller, kept, notes)


@router.post("/{name}/hold", response_model=ScheduleView)
def hold_schedule(name: Name, caller: AsSubmitter, user: OfUser = None) -> ScheduleView:
    """Suspend a schedule until it is released; active runs continue."""
    found = _visible_schedule(caller, name, user)
    by_operator = caller.principal.operator and (found.held_by_operator or found.user != caller.user)
    if not found.held or (by_operator and not found.held_by_operator):
        found = caller.store.schedules.change(found, changed(found, held=True, held_by_operator=by_operator))
    return _as_listed(caller, found)


@router.post("/{name}/release", response_model=ScheduleView)
def release_schedule(name: Name, caller: AsSubmitter, user: OfUser = None) -> ScheduleView:
    """Resume a schedule; times that passed meanwhile do not run. 403 if only operators may release it."""
    found = _visible_schedule(caller, name, user)
    if not found.held:
        return _as_listed(caller, found)
    if found.held_by_operator and not caller.principal.operator:
        raise ApiProblem(Code.HELD_BY_OPERATOR, hint="ask an operator to release it")
    now_s = caller.services.clock.now_s()
    due_s = first_after(found, now_s)
    after = changed(
        found, held=False, held_by_operator=False, due_s=due_s, next_at_s=found.made_s(due_s), planned_at_s=now_s
    )
    return _as_listed(caller, caller.store.schedules.change(found, after))


@router.post("/{name}/run", status_code=201, response_model=RunView)
def run_schedule(
    name: Name,
    caller: AsSubmitter,
    idempotency_key: IdempotencyKey = None,
) -> RunView:
    """Run it now, independent of its times and earlier runs; its times stay unchanged. For its owner only."""
    found = caller.store.schedules.one(caller.tenant, caller.user, name)
    run_id, run = run_now(
        caller.services,
        found,
        caller.principal,
        caller.request_id,
        idempotency_key,
        clock=caller.services.clock,
    )
    caller.services.master.hint()
    return RunView(kind=making.kind_of(run_id), id=run_id, notes=[] if run is None else list(run.notes))


@router.post("/{name}/backfill", status_code=201, response_model=BackfillView)
def backfill_schedule(name: Name, body: BackfillRequest, caller: AsSubmitter) -> BackfillView:
    """Run past times, each with its scheduled time: those that have not run, and with `failed` those whose run has
    failed or was cancelled; a hundred at most. The schedule's own times continue in parallel, and so does an earlier
    backfill. For its owner only.
    """
    found = caller.store.schedules.one(caller.tenant, caller.user, name)
    before = run_views(
        runs_between(body.from_s, body.to_s, caller.store.schedules.known_runs(found.id)), caller.services
    )
    again = frozenset(run.run_id for run in before if body.failed and run.run_id and run.state in _FAILED)
    wanted = Backfill(body.from_s, body.to_s, body.at_once, body.newest_first, again)
    made = [*backfill(caller.services, found, caller.principal, wanted, caller.request_id, caller.services.clock)]
    caller.services.master.hint()
    notes = dict.fromkeys(note for _, run in made if run is not None for note in run.notes)
    passed = Counter(run.state or "removed" for run in before if run.run_id not in again)
    runs = run_views([run for run, _ in made], caller.services)
    return BackfillView(runs=runs, passed=dict(passed), notes=list(notes))


@router.delete("/{name}", status_code=204)
def remove_schedule(name: Name, caller: AsSubmitter, user: OfUser = None) -> Response:
    """Remove a schedule with its history; active runs continue."""
    found = _visible_schedule(caller, name, user)
    caller.store.schedules.remove(found.tenant, found.user, found.name)
    return Response(status_code=204)


def _visible_schedule(caller: Caller, name: str, user: str | None) -> Schedule:
    """Return a schedule of the principal, or of another user for operators, whose look is recorded."""
    if user is not None and user != caller.user:
        check(caller.principal, Scope.OPERATE)
        note_look(caller, f"{PREFIX}/schedules/{name}")
    return caller.store.schedules.one(caller.tenant, user or caller.user, name)


def _schedule(name: str, body: ScheduleRequest, principal: Principal, now_s: float) -> Schedule:
    same = ("priority", "deadline_s", "indices", "deadline", "finish_by", "confidence", "budget", "ahead_s")
    options = asdict(RunOptions(body.run_name, **{name: getattr(body, name) for name in same}))
    return Schedule(
        id=f"s{secrets.token_hex(_ID_BYTES)}",
        tenant=principal.tenant,
        user=principal.user,
        name=name,
        expression=body.expression,
        zone=body.zone,
        application=body.application,
        version=body.version,
        document=body.document,
        parameters=body.parameters,
        options={key: entry for key, entry in options.items() if entry is not None},
        missed=body.missed.value,
        overlap=body.overlap.value,
        jitter_s=body.jitter_s,
        end_at_s=body.end_at_s,
        held=False,
        held_by_operator=False,
        due_s=None,
        next_at_s=None,
        planned_at_s=now_s,
        count=1,
        made_at_s=now_s,
    )


def _check_run(schedule: Schedule, caller: Caller, wrong: Sequence[Diagnostic]) -> list[str]:
    """Return notes on refusals that may no longer apply later; 422 for permanent ones, with the errors of its times."""
    try:
        run = _first_run(schedule, caller, with_times=not wrong)
    except SubmissionRefused as refused:
        if wrong:
            raise refused_times(wrong, refused) from None
        if refused.code not in _MAY_PASS:
            raise ApiProblem(Code(refused.code), refused.detail, refused.hint, refused.errors) from None
        return [f"a run would be refused now: {why_refused(refused)}"]
    if wrong:
        raise refused_times(wrong)
    return list(run.notes)


def _first_run(schedule: Schedule, caller: Caller, with_times: bool) -> making.PreparedRun:
    """Return the next run of a schedule; without times, it is due now. SubmissionRefused."""
    now_s = caller.services.clock.now_s()
    times = times_of(schedule, schedule.due_s, caller.services.clock) if with_times else RunTimes(now_s, now_s, "UTC")
    document, parameters = fill_times(document_of(caller.services, schedule), schedule.parameters, times)
    begins_s = None if schedule.due_s is None or not schedule.ahead_s else schedule.begins_s(schedule.due_s)
    under = NO_CONDITIONS if begins_s is None else Conditions(begin_at_s=begins_s)
    options = schedule.run_options
    return making.prepare(
        document,
        parameters,
        options,
        caller.services,
        caller.principal,
        under,
        from_s=begins_s,
        clock=caller.services.clock,
    )


def _as_listed(caller: Caller, schedule: Schedule, notes: Sequence[str] = ()) -> ScheduleView:
    """Return a schedule as the list shows it, with its last result."""
    last = caller.store.schedules.last_runs([schedule.id]).values()
    return schedule_view(schedule, next(iter(run_views([*last], caller.services)), None), notes)
