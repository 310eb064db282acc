"""Shared by `run` and `spark-submit`: options, and the submission of a description."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zoe_cli.commands.watching.ending import array_exit_code, exit_code_of, wait_for, wait_for_array
from zoe_cli.commands.watching.notes.last_lines import note_last_lines
from zoe_cli.commands.watching.promising import is_refused, wait_for_decision
from zoe_cli.commands.words.array_rows import array_rows
from zoe_cli.commands.words.dates import coming, duration, requested_deadline
from zoe_cli.commands.words.documents import data_format
from zoe_cli.commands.words.views import note_left_files, rows_of
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import emit, emit_data, note
from zoe_cli.text import printable
from zoe_client.errors import InvalidDescription, NeverFits, NotAllowed, ZoeError
from zoe_client.quick.plain import Execution
from zoe_client.vocabulary import DeadlineOutlook, DependencyKind, ExecutionState
from zoe_client.words import documentation

if TYPE_CHECKING:
    from zoe_client.vocabulary import ShareLevel
    from zoe_client.wire import DeadlineOutlookView

_MEMORY_BYTES_MIN = 1 << 20


def check_memory(text: str | None) -> str | None:
    """Return a size that an instance can have; typer's BadParameter."""
    if text is None:
        return None
    from zoe_client.documents.quantities import bytes_of

    try:
        size = bytes_of(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if size < _MEMORY_BYTES_MIN:
        raise typer.BadParameter(f"must be at least 1MiB, is {text}")
    return text


Name = Annotated[str | None, typer.Option(help="Name of the execution (default: the application's name).")]
Memory = Annotated[
    str | None,
    typer.Option(
        callback=check_memory, metavar="SIZE", help="Memory of each instance, or each Spark worker [1GiB; Spark: 2GiB]."
    ),
]
Cores = Annotated[float | None, typer.Option(min=0.001, help="Cores of each instance, or each Spark worker [1].")]
Carried = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        help="Another local file to copy beside the program, which finds it in its own directory (of sys.argv[0], $0), "
        "not in the working directory; may be repeated.",
    ),
]
Show = Annotated[bool, typer.Option("--show", help="Print the description instead of submitting it.")]
After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        metavar="KIND:ID",
        help="Run after another execution: ok:ID (it succeeded), fail:ID (it did not), any:ID; several with commas, or "
        "repeated.",
    ),
]
Array = Annotated[
    str | None,
    typer.Option(
        metavar="INDICES",
        help="Run it once for each index: 0-999, 1,3,7-20:2, or 0-999%50 (50 at once). {index} in commands, "
        "environments and results is the index, ZOE_ARRAY_INDEX too.",
    ),
]
Keep = Annotated[
    bool, typer.Option("--keep", help="Hold it if it can no longer run after these; else it ends as failed.")
]
Begin = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Keep it out of the queue until then: +3h, 08:00 (the next), '2026-11-01 08:30'."
    ),
]
Deadline = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="When it should have ended: +3h, 08:00 (the next), '2026-11-01 08:30', or seconds.",
    ),
]
Hold = Annotated[bool, typer.Option("--hold", help="Keep it out of the queue until `zoe release`.")]
Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait until it has ended; exit with 0 if it succeeded.")]
Follow = Annotated[
    bool, typer.Option("--follow", "-f", help="Wait, streaming the output of the service that ends the application.")
]


_CORR, _COUNTS = "corr", "ZOE_INDEX"
_CANNOT = "cannot be met"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Options that delay an execution: hold, begin, dependencies."""

    after: tuple[str, ...] = ()
    keep: bool = False
    begin: str | None = None
    hold: bool = False
    array: str | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields of a submission, without options that are not given."""
        after = [part.strip() for text in self.after for part in text.split(",")]
        for entry in after:
            _check_dependency(entry, self.array is not None)
        if self.keep and not after:
            raise typer.BadParameter("--keep needs --after")
        if self.array == "":
            raise typer.BadParameter("'' names no index; use 0-999, 1,3,7-20:2 or 0-999%50", param_hint="--array")
        given: dict[str, Any] = {} if self.array is None else {"indices": self.array}
        given |= {"after": after, "keep": self.keep, "hold": self.hold, **_begin(self.begin)}
        return {name: value for name, value in given.items() if value}


def _begin(text: str | None) -> dict[str, float]:
    """Return a relative time unresolved, so that a repeated command with the same idempotency key is the same
    request.
    """
    if text is None:
        return {}
    after = text.strip()
    return {"begin_in_s": duration(after[1:])} if after.startswith("+") else {"begin_at_s": coming(text)}


def _begin_s(text: str) -> float:
    """Return a begin time in seconds since the epoch."""
    given = _begin(text)
    return given.get("begin_at_s", time.time() + given.get("begin_in_s", 0.0))


def _check_dependency(text: str, in_array: bool) -> None:
    kind, _, on = text.partition(":")
    if kind == _CORR and not in_array:
        raise typer.BadParameter(f"{text!r} is for arrays, whose same index runs after that of another array")
    if kind not in (*DependencyKind, _CORR) or not on:
        raise typer.BadParameter(
            f"{text!r} is not a dependency; use ok:ID, fail:ID, any:ID or, for the same index of an array, corr:ARRAY"
        )


def counting_instances(document: dict[str, Any]) -> dict[str, Any]:
    """Return a description in which ZOE_INDEX still numbers instances: in an array, `{index}` is the array's."""
    components = [
        {**component, "environment": {**component["environment"], _COUNTS: "{instance}"}}
        if isinstance(component, dict) and component.get("environment", {}).get(_COUNTS) == "{index}"
        else component
        for component in document.get("components", [])
    ]
    return {**document, "components": components} if components else document


@dataclass(frozen=True, slots=True)
class Submission:
    """Options of a submission, and what to do after it."""

    name: str | None = None
    priority: int | None = None
    deadline: str | None = None
    key: str | None = None
    shares: tuple[str, ...] = ()
    conditions: Conditions = Conditions()
    wait: bool = False
    following: bool = False
    timeout_s: float | None = None
    exit_code_from_app: bool = False
    show: bool = False
    fetch: bool = False

    @property
    def waits_for_end(self) -> bool:
        """Return whether the command waits for the end."""
        return self.wait or self.following or self.fetch or self.exit_code_from_app or self.timeout_s is not None


def submit(context: typer.Context, document: dict[str, Any], how: Submission) -> None:
    """Submit a description, then wait if requested; or only print it."""
    if how.show:
        emit_data(document, data_format(context))
        if how.name is not None and document.get("name") != how.name:
            note(f"note: the name {how.name} is of the execution, not of the description: give --name when you run it")
        return
    wanted = _shares(how.shares)
    by, moment = (None, None) if how.deadline is None else requested_deadline(how.deadline)
    settings = {"name": how.name, "priority": how.priority, "deadline": by, **how.conditions.fields()}
    outlook = "" if document.get("promise") is not None else _outlook(context, document, how, moment)
    if how.conditions.array is not None:
        _submit_array(context, {"application": document, **settings}, how, outlook)
        return
    asks = document.get("promise") is not None
    with options(context).quick() as client:
        execution = client.submit(document, settings, idempotency_key=how.key)
        if asks:
            execution = wait_for_decision(client, execution)
    if wanted:
        _share(context, execution["id"], wanted)
    _print_notes(execution["notes"], outlook)
    refused = asks and is_refused(execution)  # nothing runs before an offer is accepted, so do not wait for the end
    if not how.waits_for_end or refused:
        emit(execution, options(context).output, rows_of([execution]))
        if refused:
            note(f"How Zoe decides on promises and offers: {options(context).page(documentation.PROMISES)}")
            raise typer.Exit(Exit.DEADLINE)
        return
    note(f"{execution['name']} is {execution['id']}")
    execution = _wait(context, execution, how)
    if not how.following:
        emit(execution, options(context).output, rows_of([execution]))
    elif execution["state"] == ExecutionState.SUCCEEDED:  # a failure is said anyway
        note(f"{execution['name']} ({execution['id']}) succeeded")
    end_run(context, execution["id"], exit_code_of(execution, how.exit_code_from_app), fetch=how.fetch)


def end_run(context: typer.Context, unit_id: str, code: int, *, fetch: bool) -> None:
    """Copy the results if they are wanted, and exit with this code, or that of missing results, unless it is 0."""
    if fetch:
        from zoe_cli.commands.files.fetching import fetch_results

        with options(context).following() as client:
            found = fetch_results(client, unit_id, Path(), lambda path: note(f"fetched {printable(str(path))}"))
        code = code or found.code
    if code:
        raise typer.Exit(code)


def _outlook(context: typer.Context, document: dict[str, Any], how: Submission, by: str | None) -> str:
    """Return the forecast for the deadline; empty without one. A deadline is a wish, so it never stops the
    submission.
    """
    if by is None and not any(document.get(key) for key in ("deadline", "deadline_s")):
        return ""
    try:
        with options(context).client() as client:
            answer = client.plan(document, priority=how.priority, deadline=by)
    except (InvalidDescription, NeverFits, NotAllowed):
        return ""  # the response of the submission shows it
    except ZoeError as error:
        return f"Whether the deadline can be met is not known: {error}"
    return "" if answer.deadline is None else _outlook_words(answer.deadline, how.conditions)


def _outlook_words(found: DeadlineOutlookView, conditions: Conditions) -> str:
    """Return the sentence for a deadline at risk."""
    # A deadline that cannot be met now cannot be met later either; nothing better is known.
    if found.outlook is DeadlineOutlook.CANNOT_BE_MET:
        return found.sentence
    if conditions.begin and _begin_s(conditions.begin) >= found.at_s:
        return f"The deadline {found.text} cannot be met: it is not later than the begin time."
    if conditions.hold or conditions.after or conditions.begin:
        return f"Whether the deadline {found.text} can be met is not known: it depends on when it may begin."
    if conditions.array is not None:
        return f"Whether the array meets the deadline {found.text} is not known. For one index: {found.sentence}"
    return found.sentence


def _print_notes(notes: list[str], outlook: str) -> None:
    """Print the notes, with the forecast instead of the server's note on the declared run time."""
    for text in notes:
        if not (outlook and _CANNOT in text):
            note(f"note: {text}")
    if outlook:
        note(outlook)


def _submit_array(context: typer.Context, body: dict[str, Any], how: Submission, outlook: str) -> None:
    if how.shares or how.following:
        raise typer.BadParameter(
            "--array cannot be combined with --share or --follow; use `zoe share` and `zoe logs` for its executions"
        )
    with options(context).quick() as client:
        array = client.submit_array(
            {name: entry for name, entry in body.items() if entry is not None}, idempotency_key=how.key
        )
    _print_notes(array["notes"], outlook)
    refused = body["application"].get("promise") is not None and _is_array_refused(context, array["id"])
    if not how.waits_for_end or refused:
        emit(array, options(context).output, array_rows([array]))
        if refused:
            raise typer.Exit(Exit.DEADLINE)
        return
    note(f"{array['name']} is {array['id']}")
    with options(context).following() as following:
        ended = wait_for_array(following, array["id"], how.timeout_s)
    emit(ended, options(context).output, array_rows([ended]))
    end_run(context, ended["id"], array_exit_code(ended), fetch=how.fetch)


def _is_array_refused(context: typer.Context, array_id: str) -> bool:
    """Return whether the promise to an array was refused, once it is decided."""
    from zoe_cli.commands.watching.workflow_promises import is_refused as whole_refused
    from zoe_cli.commands.watching.workflow_promises import wait_for_array_decision

    with options(context).client() as client:
        return whole_refused(wait_for_array_decision(client, array_id))


def _shares(texts: tuple[str, ...]) -> list[tuple[str, ShareLevel]]:
    if not texts:
        return []
    from zoe_cli.commands.account.sharing import read_share

    return [read_share(text) for text in texts]


def _share(context: typer.Context, execution_id: str, wanted: list[tuple[str, ShareLevel]]) -> None:
    from zoe_cli.commands.account.sharing import share_with

    with options(context).client() as client:
        for user, level in wanted:
            share_with(client, execution_id, user, level)


def _wait(context: typer.Context, execution: Execution, how: Submission) -> Execution:
    give_up_s = None if how.timeout_s is None else time.monotonic() + how.timeout_s
    followed = None
    if how.following:
        from zoe_cli.commands.watching.quick_follow import follow_quickly

        with options(context).quick() as quick:
            followed = follow_quickly(quick, execution)
        if followed.ended is not None:
            note_left_files(followed.ended)
            return followed.ended
    with options(context).following() as client:
        if followed is not None:
            from zoe_cli.commands.watching.output_of import follow

            follow(client, execution["id"], followed.service_id, followed.offset)
        ended = wait_for(client, execution, give_up_s)
        if not how.following:
            note_last_lines(client, ended)
    if how.following:
        note_left_files(ended)
    return ended
