"""Run schedules: at their times by the leader, and on request of their users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from zoe_client.vocabulary import DependencyKind, OverlapPolicy, ScheduleOutcome
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency
from zoe_lib.domain.values.frozen import changed
from zoe_lib.schedules.run_times import PARTS, RunTimes, unfilled_time, with_times
from zoe_lib.schedules.turns import ScheduleTurn, turn_of
from zoe_lib.schedules.values import Schedule, ScheduleRun
from zoe_lib.store.errors import AlreadyMade, NotFound
from zoe_lib.store.people import Principal
from zoe_lib.store.sql.batch import schedules as rows
from zoe_lib.submission.ending import cancel_run
from zoe_lib.submission.making import PreparedRun, prepare, run_with_key, store_run
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused

QUEUED_MAX = 10
"""Maximum waiting runs of a schedule; further times are skipped."""
AFTER_MAX = 1000
"""Maximum executions of earlier runs that a run waits for."""
_MESSAGE_MAX = 1000


class _Skipped(Exception):  # noqa: N818 - it is no error
    pass


def run_due(place: SubmissionPlace, schedule: Schedule, now_s: float, since_s: float | None = None) -> bool:
    """Run the due time of a schedule, at most one, and return whether a run was made. since_s: see `turn_of`.

    A run is stored in the transaction that advances the schedule. So each time runs once, even if masters die or work
    at the same moment.
    """
    turn = turn_of(schedule, now_s, since_s)
    if turn.run_s is None and turn.next_s == schedule.due_s:
        return False
    noted = _missed_runs(schedule, turn, now_s)
    if turn.run_s is None:
        _advance(place, schedule, turn, now_s, noted)
        return False
    try:
        return _make_run(place, schedule, turn, now_s, noted)
    except _Skipped as skipped:
        run = _run(schedule, turn.run_s, now_s, ScheduleOutcome.SKIPPED, "", str(skipped))
    except SubmissionRefused as refused:
        run = _run(schedule, turn.run_s, now_s, ScheduleOutcome.REFUSED, refused.code, why_refused(refused))
    except NotFound as gone:
        run = _run(schedule, turn.run_s, now_s, ScheduleOutcome.REFUSED, "not_found", str(gone))
    _advance(place, schedule, turn, now_s, [*noted, run])
    return False


def skip_due(place: SubmissionPlace, schedule: Schedule, now_s: float) -> None:
    """Skip the due times of a schedule after an unexpected error, so that it is not retried for ever."""
    turn = turn_of(schedule, now_s)
    noted = _missed_runs(schedule, turn, now_s)
    if turn.run_s is not None:
        message = "an unexpected error; see the log of the master"
        noted.append(_run(schedule, turn.run_s, now_s, ScheduleOutcome.REFUSED, "internal", message))
    _advance(place, schedule, turn, now_s, noted)


def run_now(
    place: SubmissionPlace,
    schedule: Schedule,
    principal: Principal,
    cause_id: str,
    key: str | None,
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[str, PreparedRun | None]:
    """Run a schedule's document now, regardless of its times, and record it; return the id of the run, and the run if
    it is new. SubmissionRefused, NotFound, IdempotencyConflict.
    """
    fingerprint = f"schedule {schedule.id}"
    earlier = run_with_key(place, principal, key, fingerprint)
    if earlier is not None:
        return earlier, None
    run = prepared_run(place, schedule, principal, NO_CONDITIONS, clock=clock)
    noted = ScheduleRun(schedule.id, None, clock.now_s(), ScheduleOutcome.MADE, run.kind, run.id)
    return store_run(run, place, cause_id, key, fingerprint, lambda c: rows.note(c, noted)), run


def document_of(place: SubmissionPlace, schedule: Schedule) -> Mapping[str, Any]:
    """Return the document of a schedule; NotFound if it is not stored any more."""
    if schedule.application is None:
        return schedule.document or {}
    find = place.store.schedules.application
    return find(schedule.tenant, schedule.user, schedule.application, schedule.version).document


def times_of(schedule: Schedule, due_s: float | None = None, clock: Clock = SYSTEM_CLOCK) -> RunTimes:
    """Return the times of a run: of the schedule, or the present moment for a run by hand."""
    scheduled_s = float(int(clock.now_s())) if due_s is None else due_s
    before = schedule.times.newest(0.0, scheduled_s - 1, 1)
    return RunTimes(scheduled_s, before[0] if before else None, schedule.zone)


def fill_times(
    document: Mapping[str, Any], parameters: Mapping[str, Any], times: RunTimes
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return document and parameters with the times filled in; SubmissionRefused for a parameter with an unknown time
    template.
    """
    filled = with_times(parameters, times)
    if wrong := unfilled_time(filled):
        parts = ", ".join(filter(None, PARTS))
        raise SubmissionRefused(
            "invalid_request", f"{wrong} is not a time of this run; the parts of a time are {parts}"
        )
    return with_times(document, times), filled


def why_refused(refused: SubmissionRefused) -> str:
    """Return a sentence with the cause of the refusal, or the first finding."""
    found = refused.errors[0] if refused.errors else None
    detail = refused.detail or refused.code.replace("_", " ")
    return (f"{detail}: {found.pointer} {found.message}" if found is not None else detail)[:_MESSAGE_MAX]


def _make_run(
    place: SubmissionPlace, schedule: Schedule, turn: ScheduleTurn, now_s: float, noted: Sequence[ScheduleRun]
) -> bool:
    assert turn.run_s is not None
    cause_id = f"schedule-{schedule.id}"
    principal = _principal(place, schedule)
    conditions, from_s = _after_earlier(place, schedule, cause_id), None
    if schedule.ahead_s:
        from_s = schedule.begins_s(turn.run_s)
        conditions = changed(conditions, begin_at_s=from_s)
    run = prepared_run(place, schedule, principal, conditions, from_s, turn.run_s)
    made = changed(_run(schedule, turn.run_s, now_s, ScheduleOutcome.MADE), kind=run.kind, run_id=run.id)

    def advance(connection: Connection) -> None:
        rows.advance(connection, schedule, turn.next_s, now_s, [*noted, made])

    try:
        store_run(run, place, cause_id, beside=advance)
    except AlreadyMade:
        _advance(place, schedule, turn, now_s, [])
        return False
    return True


def prepared_run(
    place: SubmissionPlace,
    schedule: Schedule,
    principal: Principal,
    conditions: Conditions,
    from_s: float | None = None,
    due_s: float | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> PreparedRun:
    """Return the run of a schedule's time (due_s; None: now); SubmissionRefused, NotFound. from_s: start of its
    deadlines.
    """
    document, parameters = fill_times(
        document_of(place, schedule), schedule.parameters, times_of(schedule, due_s, clock)
    )
    return prepare(document, parameters, schedule.run_options, place, principal, conditions, from_s, clock)


def _principal(place: SubmissionPlace, schedule: Schedule) -> Principal:
    """Return the user of the schedule, with their present role."""
    accounts = place.store.accounts
    if accounts.user(schedule.user).disabled:
        raise SubmissionRefused("user_disabled", f"user {schedule.user} is disabled")
    for membership in accounts.memberships(user=schedule.user, tenant=schedule.tenant):
        principal = Principal.of_member(schedule.user, schedule.tenant, membership.role)
        if Scope.SUBMIT in principal.scopes:
            return principal
        raise SubmissionRefused(
            "role_missing", f"{schedule.user} is a {membership.role}; this role cannot run executions"
        )
    raise NotFound(f"{schedule.user} is not a member of {schedule.tenant}")


def _after_earlier(place: SubmissionPlace, schedule: Schedule, cause_id: str) -> Conditions:
    """Return its conditions on earlier unfinished runs; _Skipped if it does not run."""
    store, policy = place.store.schedules, schedule.overlap_policy
    earlier = () if policy is OverlapPolicy.ALLOW else store.unended(schedule.id)
    if not earlier:
        return NO_CONDITIONS
    if policy is OverlapPolicy.SKIP:
        raise _Skipped(f"{earlier[0].run_id} has not ended")
    if policy is OverlapPolicy.QUEUE:
        if len(earlier) >= QUEUED_MAX:
            raise _Skipped(f"{QUEUED_MAX} of its runs have not ended")
        ids = store.executions_of(earlier[0])
    else:
        ids = [text for run in earlier for text in store.executions_of(run)]
        for id_ in ids:
            cancel_run(place.store, id_, schedule.user, cause_id)
    return Conditions(after=tuple(Dependency(DependencyKind.ANY, id_) for id_ in ids[:AFTER_MAX]))


def _missed_runs(schedule: Schedule, turn: ScheduleTurn, now_s: float) -> list[ScheduleRun]:
    if turn.missed_s is None:
        return []
    return [changed(_run(schedule, turn.missed_s, now_s, ScheduleOutcome.MISSED), number=turn.missed)]


def _run(
    schedule: Schedule, due_s: float, now_s: float, outcome: ScheduleOutcome, code: str = "", message: str = ""
) -> ScheduleRun:
    return ScheduleRun(schedule.id, due_s, now_s, outcome, None, None, code, message[:_MESSAGE_MAX])


def _advance(
    place: SubmissionPlace, schedule: Schedule, turn: ScheduleTurn, now_s: float, runs: Sequence[ScheduleRun]
) -> None:
    """Advance the schedule; do nothing if another process was faster."""
    try:
        place.store.schedules.advance(schedule, turn.next_s, now_s, runs)
    except AlreadyMade:
        if runs:  # this time has an outcome already, by a clock that was ahead
            _advance(place, schedule, turn, now_s, [])
