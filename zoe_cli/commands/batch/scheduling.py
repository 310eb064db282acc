"""schedule: run something at the times of a cron expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zoe_cli.commands.batch.dispatching import hint_if_unknown, show_run
from zoe_cli.commands.batch.schedule_options import (
    Ahead,
    End,
    Jitter,
    Missed,
    Overlap,
    Priority,
    RunDeadline,
    RunName,
    RunWishes,
    ScheduleOptions,
    Times,
    What,
    Zone,
)
from zoe_cli.commands.batch.stored_applications import Version
from zoe_cli.commands.batch.workflows import (
    Key,
    Parameters,
    Timeout,
    check_no_script,
    given_parameters,
    read_document,
    refuse_with_places,
)
from zoe_cli.commands.running.submitting import Array, Wait
from zoe_cli.commands.watching.promising import Budget, Confidence, FinishBy
from zoe_cli.commands.words.dates import now_s
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock, count_with_noun, duration
from zoe_client.errors import Refused
from zoe_client.vocabulary import MissedPolicy, OverlapPolicy
from zoe_client.words.times import zone_of

if TYPE_CHECKING:
    from zoe_client.documents.yaml_document import LocatedDocument
    from zoe_client.wire import ScheduleRequest, ScheduleRunView, ScheduleView

app = typer.Typer(help="Schedules: applications that run at the times of a cron expression.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the schedule: letters, digits, _ and -.")]
OfUser = Annotated[str | None, typer.Option("--user", help="Another user's schedule; for operators.")]
_IN_DOCUMENT = "/document"
_FILES = (".json", ".yaml", ".yml")
_DATE_LENGTH = len("2026-11-01")


def add_one(
    context: typer.Context,
    name: Name,
    expression: Times,
    what: What,
    zone: Zone = None,
    parameters: Parameters = None,
    version: Version = None,
    run_name: RunName = None,
    priority: Priority = None,
    deadline: RunDeadline = None,
    finish_by: FinishBy = None,
    confidence: Confidence = None,
    budget: Budget = None,
    ahead: Ahead = None,
    array: Array = None,
    missed: Missed = MissedPolicy.LATEST,
    overlap: Overlap = OverlapPolicy.SKIP,
    jitter: Jitter = None,
    end: End = None,
) -> None:
    """Add a schedule, or replace the one with this name. It runs as you, from its next time on."""
    check_no_script(what, "schedule")
    if zone is None:
        note("note: its times are in UTC; give --zone for another time zone")
    runs = RunWishes(version, run_name, priority, deadline, finish_by, confidence, budget, array, ahead)
    asked = ScheduleOptions(zone or "UTC", runs, missed, overlap, jitter, end)
    file = Path(what) if what == "-" or what.endswith(_FILES) or "/" in what else None
    read = None if file is None else read_document(file)
    given: dict[str, Any] = {"application": what} if read is None else {"document": read.document}
    body = asked.request(expression, {**given, "parameters": given_parameters(parameters)})
    made = _put(context, name, body, file, read)
    for text in made.notes:
        note(f"note: {text}")
    emit(made, options(context).output, _rows([made]))


def _put(
    context: typer.Context, name: str, body: ScheduleRequest, file: Path | None, read: LocatedDocument | None
) -> ScheduleView:
    """Store a schedule; a refusal names the places in the file of its document."""
    with options(context).client() as client, hint_if_unknown():
        try:
            return client.schedules.put(name, body)
        except Refused as error:
            if file is None or read is None:
                raise
            refuse_with_places(error, file, read, _IN_DOCUMENT if error.problem.code == "invalid_schedule" else None)


def show_list(
    context: typer.Context,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Schedules of the whole tenant; for operators.")
    ] = False,
) -> None:
    """List schedules with their next times, and the results of the last ones."""
    with options(context).client() as client:
        found = client.schedules.all(all_users)
    emit(found, options(context).output, _rows(found.schedules))


def show(context: typer.Context, name: Name, user: OfUser = None) -> None:
    """Show a schedule: its next times, and the results of its last ones."""
    with options(context).client() as client:
        found = client.schedules.one(name, user)
    if options(context).output is Format.TABLE:
        note(f"{found.name}: {found.expression} ({found.zone}), missed: {found.missed}, overlap: {found.overlap}")
        if found.ahead_s:
            note(f"Each run is submitted {duration(found.ahead_s)} before its time.")
        if found.finish_by is not None:
            sure = f"{found.confidence or 0.9:.0%}"
            note(f"Each run is to be promised to end by {found.finish_by}, with {sure} confidence.")
        note("next: " + (", ".join(map(clock, found.next_times_s)) or "none") + (" (held)" if found.held else ""))
    rows = [(clock(run.due_s) if run.due_s else "by hand", clock(run.at_s), _came(run)) for run in found.runs]
    emit(found, options(context).output, Rows(("due", "at", "outcome"), rows))


def hold(context: typer.Context, name: Name, user: OfUser = None) -> None:
    """Suspend a schedule until it is released; active runs continue."""
    with options(context).client() as client:
        found = client.schedules.hold(name, user)
    emit(found, options(context).output, _rows([found]))


def release(context: typer.Context, name: Name, user: OfUser = None) -> None:
    """Resume a schedule; times that passed meanwhile do not run."""
    with options(context).client() as client:
        found = client.schedules.release(name, user)
    emit(found, options(context).output, _rows([found]))


def run(context: typer.Context, name: Name, wait: Wait = False, timeout: Timeout = None, key: Key = None) -> None:
    """Run it now, independent of its times and earlier runs."""
    with options(context).client() as client:
        made = client.schedules.run(name, idempotency_key=key)
    show_run(context, made, wait or timeout is not None, timeout)


def backfill(
    context: typer.Context,
    name: Name,
    since: Annotated[
        str, typer.Option("--from", metavar="TIME", help="First time, such as 2026-11-01 or '2026-11-01 02:30'.")
    ],
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="Last time; a date includes its whole day.")],
    at_once: Annotated[int, typer.Option(min=1, max=100, help="Maximum runs at once.")] = 1,
    newest_first: Annotated[bool, typer.Option("--newest-first", help="Begin with the newest time.")] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="Also run times again whose run has failed or was cancelled.")
    ] = False,
) -> None:
    """Run past times that have not run, each with its scheduled time. TIMEs are in the zone of the schedule."""
    from zoe_client.wire import BackfillRequest

    with options(context).client() as client:
        zone = client.schedules.one(name).zone
        body = BackfillRequest(
            from_s=_moment(since, zone, of_day=time.min),
            to_s=_end_of_range(until, zone),
            at_once=at_once,
            newest_first=newest_first,
            failed=failed,
        )
        made = client.schedules.backfill(name, body)
    for text in made.notes:
        note(f"note: {text}")
    rows = [(run.run_id or "", clock(run.due_s) if run.due_s else "", _came(run)) for run in made.runs]
    emit(made, options(context).output, Rows(("run", "due", "outcome"), rows))
    if made.passed:
        note(_skipped_times_text(made.passed, failed))
    elif not made.runs:
        note("The schedule has no times there.")
    if not made.runs:
        return
    if made.runs[-1].run_id is None:
        note("The times from the refused one on were not run; repeat the command to continue with them.")
        raise typer.Exit(Exit.USAGE)


def _skipped_times_text(passed: Mapping[str, int], failed: bool) -> str:
    """Print the times of the range that are skipped because they ran before."""
    states = ", ".join(f"{number} {state}" for state, number in sorted(passed.items()))
    again = not failed and any(state in passed for state in ("failed", "cancelled"))
    return f"Times there that have run before: {states}." + (" --failed runs failed ones again." if again else "")


def _end_of_range(text: str, zone: str) -> float:
    """Return the end of a range; a range up to today ends now."""
    end_s, begin_s = (_moment(text, zone, of_day=entry) for entry in (time.max, time.min))
    return max(min(end_s, now_s()), begin_s) if len(text.strip()) <= _DATE_LENGTH else end_s


def _moment(text: str, zone: str, of_day: time) -> float:
    """Return a date and time in a zone as seconds since the epoch; a date alone gets the present time of day."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date; use 2026-11-01 or '2026-11-01 08:30'") from None
    if len(text.strip()) <= _DATE_LENGTH:
        found = datetime.combine(found.date(), of_day)
    at_s = (found if found.tzinfo is not None else found.replace(tzinfo=zone_of(zone))).timestamp()
    if at_s < 0:
        raise typer.BadParameter(f"{text!r} is before 1970")
    return at_s


def remove(context: typer.Context, name: Name, user: OfUser = None) -> None:
    """Remove a schedule with its history; active runs continue."""
    with options(context).client() as client:
        client.schedules.remove(name, user)
    emit({"removed": name}, options(context).output, Rows(("removed",), [(name,)]))


def _rows(found: Sequence[ScheduleView]) -> Rows:
    rows = [
        (
            schedule.name,
            schedule.user,
            f"{schedule.expression} {schedule.zone}",
            schedule.application or "(own document)",
            "held" if schedule.held else clock(schedule.next_at_s) if schedule.next_at_s is not None else "none",
            clock(schedule.last.at_s) if schedule.last is not None else "",
            "" if schedule.last is None else _came(schedule.last),
        )
        for schedule in found
    ]
    return Rows(
        ("name", "user", "times", "runs", "next", "last", "outcome"),
        rows,
        "no schedules yet: `zoe schedule add` makes one",
    )


def _came(one: ScheduleRunView) -> str:
    if one.run_id is not None:
        return f"{one.run_id} {one.state or 'removed'}"
    times = f" {count_with_noun(one.number, 'time')}" if one.outcome == "missed" else ""
    return f"{one.outcome.value}{times}" + (f": {one.message}" if one.message else "")


add(
    app,
    "add",
    add_one,
    (
        "zoe schedule add nightly '30 2 * * *' report --zone Europe/Paris --param day=today",
        "zoe schedule add hourly @hourly check.json --overlap queue",
        "zoe schedule add nightly '30 2 * * *' nightly.yaml --zone Europe/Paris --finish-by 08:00 --ahead 6h",
    ),
)
add(app, "ls", show_list, ("zoe schedule ls",))
add(app, "show", show, ("zoe schedule show nightly",))
add(app, "hold", hold, ("zoe schedule hold nightly",))
add(app, "release", release, ("zoe schedule release nightly",))
add(app, "run", run, ("zoe schedule run nightly --wait",))
add(
    app,
    "backfill",
    backfill,
    (
        "zoe schedule backfill nightly --from 2026-11-01 --to 2026-11-07 --at-once 2",
        "zoe schedule backfill nightly --from 2026-11-01 --to 2026-11-07 --failed",
        "zoe schedule backfill hourly --from '2026-11-01 00:00' --to '2026-11-01 12:00' --newest-first",
    ),
)
add(app, "rm", remove, ("zoe schedule rm nightly",))
