"""Run the past times of a schedule, each once and with its own time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from zoe_client.vocabulary import DependencyKind, RunKind, ScheduleOutcome
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency
from zoe_lib.domain.values.frozen import value
from zoe_lib.schedules.values import Schedule, ScheduleRun
from zoe_lib.store.errors import AlreadyMade, NotFound
from zoe_lib.store.people import Principal
from zoe_lib.store.sql.batch import schedules as rows
from zoe_lib.store.sql.batch.schedules import RUNS_KEPT
from zoe_lib.submission.making import PreparedRun, store_run
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused
from zoe_lib.submission.scheduling import AFTER_MAX, prepared_run, why_refused

TIMES_MAX = 100
"""Maximum times of one request; each is a submission of some milliseconds."""
_RAN = (ScheduleOutcome.MADE, ScheduleOutcome.BACKFILLED)


@value(frozen=True, slots=True)
class Backfill:
    """The times to run: those from from_s to to_s, both included, seconds since the epoch. at_once: maximum at the same
    time; the next one begins when one of them has ended in any way. again: runs whose times run once more.
    """

    from_s: float
    to_s: float
    at_once: int = 1
    newest_first: bool = False
    again: frozenset[str] = frozenset()


def runs_between(from_s: float, to_s: float, runs: Sequence[ScheduleRun]) -> list[ScheduleRun]:
    """Return the runs of the times between two moments, both included: at most the maximum of one request."""
    return [run for run in runs if run.due_s is not None and run.outcome in _RAN and from_s <= run.due_s <= to_s][
        :TIMES_MAX
    ]


def backfill_times(schedule: Schedule, wanted: Backfill, now_s: float, runs: Sequence[ScheduleRun]) -> list[float]:
    """Return the times that have not run yet, or run again, in the order in which to run them; SubmissionRefused.
    runs: the outcomes of all stored times.
    """
    if wanted.to_s < wanted.from_s:
        raise SubmissionRefused("invalid_request", "the end is before the beginning")
    if wanted.to_s > now_s:
        raise SubmissionRefused("invalid_request", "the end is in the future, when the times run by themselves")
    known = [run.due_s for run in runs if run.due_s is not None]
    if len(runs) >= RUNS_KEPT and known and wanted.from_s < min(known):
        since = min(known)
        why = f"which times before {since:.0f} (seconds since 1970) have run is not known any more; begin there"
        raise SubmissionRefused("invalid_request", why)
    found = schedule.times.newest(wanted.from_s, wanted.to_s, TIMES_MAX + 1)
    if len(found) > TIMES_MAX:
        why = f"it has more than {TIMES_MAX} times there, which is the most of one request; give a shorter range"
        raise SubmissionRefused("invalid_request", why)
    done = {run.due_s for run in runs if run.outcome in _RAN and run.run_id not in wanted.again}
    left = [value for value in found if value not in done]
    return left[::-1] if wanted.newest_first else left


def backfill(
    place: SubmissionPlace,
    schedule: Schedule,
    principal: Principal,
    wanted: Backfill,
    cause_id: str,
    clock: Clock = SYSTEM_CLOCK,
) -> Iterator[tuple[ScheduleRun, PreparedRun | None]]:
    """Submit a run for each time, and yield its outcome; SubmissionRefused before the first one.

    The first refused time ends it, since the others may meet the same limit; it is yielded last.
    """
    now_s = clock.now_s()
    due = backfill_times(schedule, wanted, now_s, place.store.schedules.known_runs(schedule.id))
    made: list[ScheduleRun] = []
    for due_s in due:
        try:
            conditions = _after_run(place, made[-wanted.at_once]) if len(made) >= wanted.at_once else NO_CONDITIONS
            run = prepared_run(place, schedule, principal, conditions, due_s=due_s, clock=clock)
            noted = ScheduleRun(schedule.id, due_s, now_s, ScheduleOutcome.BACKFILLED, run.kind, run.id)
            store_run(run, place, cause_id, beside=partial(rows.note_backfilled, run=noted, again=wanted.again))
        except AlreadyMade:
            continue  # another user ran it at this moment
        except SubmissionRefused as refused:
            code, why = refused.code, why_refused(refused)
        except NotFound as gone:
            code, why = "not_found", str(gone)
        else:
            made.append(noted)
            yield noted, run
            continue
        yield ScheduleRun(schedule.id, due_s, now_s, ScheduleOutcome.REFUSED, code=code, message=why), None
        return


def _after_run(place: SubmissionPlace, run: ScheduleRun) -> Conditions:
    ids = place.store.schedules.executions_of(run) if run.kind is RunKind.WORKFLOW else [run.run_id or ""]
    return Conditions(after=tuple(Dependency(DependencyKind.ANY, id_) for id_ in ids[:AFTER_MAX]))
