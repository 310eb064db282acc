"""workflow: steps with dependencies, from one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from zoe_cli.commands.batch.workflow_files import with_files
from zoe_cli.commands.watching.promising import Budget, Confidence, FinishBy
from zoe_cli.commands.watching.workflow_promises import (
    exit_if_refused,
    is_refused,
    print_common_plan,
    requested_promise,
    wait_for_workflow_decision,
    workflow_lines,
)
from zoe_cli.commands.watching.workflow_views import (
    WorkflowId,
    list_rows,
    name_failures,
    plan_rows,
    show,
)
from zoe_cli.commands.words.dates import seconds
from zoe_cli.commands.words.documents import data_format, read_text
from zoe_cli.context import options
from zoe_cli.exits import Exit, exit_of
from zoe_cli.output import emit, emit_data, note
from zoe_cli.registry import add
from zoe_cli.text import printable
from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.errors import Refused

if TYPE_CHECKING:
    from zoe_client.documents.yaml_document import LocatedDocument

app = typer.Typer(help="Workflows: steps that run after each other, from one file.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Workflow in YAML or JSON; - reads standard input.")]
Parameters = Annotated[
    list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="Value of a parameter; may be repeated.")
]
Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait until it has ended; exit with 0 if it succeeded.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        parser=seconds,
        metavar="DURATION",
        help="Stop waiting after this time: 90m, 12h, or seconds (exit code 124); the steps continue.",
    ),
]
Key = Annotated[
    str | None, typer.Option("--idempotency-key", help="Key that makes a repeated call return the same workflow.")
]


def run(
    context: typer.Context,
    file: File,
    parameters: Parameters = None,
    show_plan: Annotated[
        bool, typer.Option("--show", help="Print the executions to which it is compiled instead of submitting them.")
    ] = False,
    wait_for_end: Wait = False,
    timeout: Timeout = None,
    key: Key = None,
    finish_by: FinishBy = None,
    confidence: Confidence = None,
    budget: Budget = None,
) -> None:
    """Submit the steps of a workflow, all or none of them."""
    wish = requested_promise(finish_by, confidence, budget)
    read, given = read_document(file), given_parameters(parameters)
    with options(context).client() as client:
        try:
            if show_plan:
                plan = client.workflows.validate(read.document, given)
                emit_data(plan.model_dump(mode="json"), data_format(context))
                return
            made = client.workflows.run(read.document, given, idempotency_key=key, **wish)
        except Refused as error:
            refuse_with_places(error, file, read)
        for text in made.notes:
            note(f"note: {text}")
        made = wait_for_workflow_decision(client, made)
    if (wait_for_end or timeout is not None) and not is_refused(made):
        note(f"{made.name} is {made.id}")
        _end(context, [made.id], timeout)
        return
    emit(made, options(context).output, list_rows([made]))
    exit_if_refused(made)


def plan(
    context: typer.Context,
    file: File,
    finish_by: FinishBy = None,
    parameters: Parameters = None,
    confidence: Confidence = None,
    budget: Budget = None,
) -> None:
    """Show the promise or the offers for a workflow. Nothing is submitted."""
    wish = requested_promise(finish_by, confidence, budget)
    if not wish:
        raise typer.BadParameter("a plan needs --finish-by: the time by which the whole workflow should end")
    read, given = read_document(file), given_parameters(parameters)
    with options(context).client() as client:
        try:
            found = client.workflows.plan(read.document, given, **wish)
        except Refused as error:
            refuse_with_places(error, file, read)
    print_common_plan(context, found)


def accept(
    context: typer.Context,
    workflow_id: WorkflowId,
    offer: Annotated[int, typer.Argument(min=1, max=10, metavar="NUMBER", help="Number of the offer.")] = 1,
) -> None:
    """Accept an offer for a workflow whose deadline cannot be promised."""
    with options(context).client() as client:
        found = client.workflows.accept(workflow_id, offer)
    for line in workflow_lines(found):
        note(line)
    emit(found, options(context).output, list_rows([found]))


def validate(context: typer.Context, file: File, parameters: Parameters = None) -> None:
    """Check a workflow, and report all errors; nothing is submitted."""
    read = read_document(file)
    with options(context).client() as client:
        try:
            plan = client.workflows.validate(read.document, given_parameters(parameters))
        except Refused as error:
            refuse_with_places(error, file, read)
    for text in plan.notes:
        note(f"note: {text}")
    emit(plan, options(context).output, plan_rows(plan))


def show_list(
    context: typer.Context,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="Workflows of all tenants; for operators.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of workflows.")] = 50,
) -> None:
    """List workflows, newest first."""
    with options(context).client() as client:
        page = client.workflows.page(all_tenants=all_tenants, limit=limit)
    if page.next_cursor:
        note("there are more workflows; see --limit")
    emit(page, options(context).output, list_rows(page.workflows))


def cancel(context: typer.Context, workflow_id: WorkflowId) -> None:
    """Cancel all steps of a workflow that have not ended."""
    with options(context).client() as client:
        found = client.workflows.cancel(workflow_id)
    emit(found, options(context).output, list_rows([found]))


def resume(
    context: typer.Context,
    workflow_id: WorkflowId,
    wait_for_end: Wait = False,
    timeout: Timeout = None,
    key: Key = None,
) -> None:
    """Run unsuccessful steps again, and those after them; results of the other steps are reused."""
    with options(context).client() as client:
        found = client.workflows.resume(workflow_id, idempotency_key=key)
    for text in found.notes:
        note(f"note: {text}")
    if wait_for_end or timeout is not None:
        _end(context, [found.id], timeout)
        return
    emit(found, options(context).output, list_rows([found]))


def wait(
    context: typer.Context,
    workflow_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of workflows.")],
    timeout: Timeout = None,
) -> None:
    """Wait until workflows have ended; exit with 0 if all succeeded. Each failed step is printed."""
    _end(context, workflow_ids, timeout)


def _end(context: typer.Context, ids: list[str], timeout_s: float | None) -> None:
    with options(context).following() as client:
        ended = [client.wait_for_workflow(id_, timeout_s) for id_ in ids]
    shown: Any = (
        ended[0] if len(ended) == 1 else {"workflows": [workflow.model_dump(mode="json") for workflow in ended]}
    )
    emit(shown, options(context).output, list_rows(ended))
    failed = [workflow for workflow in ended if name_failures(workflow)]
    if failed:
        exit_if_refused(failed[0])
        raise typer.Exit(Exit.APPLICATION_FAILED)


def given_parameters(texts: list[str] | None) -> dict[str, str]:
    """Return the values of `--param NAME=VALUE` by name."""
    given: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE; write --param {name or 'NAME'}=VALUE")
        if name in given:
            raise typer.BadParameter(f"--param {name} is given twice")
        given[name] = value
    return given


def check_no_script(file: str, verb: str) -> None:
    """Refuse a script where a description is needed, and name the way to it. `verb`: what is done with it then."""
    from zoe_client.documents.scripts import INTERPRETERS

    if Path(file).suffix in INTERPRETERS:
        shown = printable(file)
        raise typer.BadParameter(
            f"{shown} is a script: `zoe run --show {shown} > app.json` writes its description; {verb} app.json"
        )


def read_document(file: Path) -> LocatedDocument:
    """Return the document in a file, with the files that it names; exit with the findings if it is invalid."""
    from zoe_client.documents.yaml_document import load_yaml

    try:
        return with_files(load_yaml(read_text(file)), file)
    except DescriptionError as error:
        note("zoe: the document is not valid")
        for diagnostic in error.diagnostics:
            note(f"  {_name(file)}: {diagnostic.message}" + (f" ({diagnostic.hint})" if diagnostic.hint else ""))
        raise typer.Exit(Exit.USAGE) from None


_BESIDE_BODY = ("/path/", "/query/", "/header/")
"""Parts of a request outside the document, such as a name in the URL."""


def refuse_with_places(error: Refused, file: Path, read: LocatedDocument, below: str | None = None) -> NoReturn:
    """Report every finding with its line, and exit. `below`: the path of the document in the request, if findings may
    be about other parts of the request.
    """
    note(f"zoe: {str(error).partition(chr(10))[0]}")
    for diagnostic in error.problem.errors:
        beside = diagnostic.pointer.startswith(_BESIDE_BODY)
        if beside or (below is not None and not diagnostic.pointer.startswith(below)):
            name = diagnostic.pointer.rpartition("/")[2].upper() if beside else diagnostic.pointer.lstrip("/")
            if diagnostic.message != error.problem.detail:
                note(f"  {name}: {diagnostic.message}")
            continue
        diagnostic.pointer = diagnostic.pointer.removeprefix(below or "")
        place = read.place(diagnostic.pointer)
        where = _name(file) if place is None else f"{_name(file)}:{place[0]}:{place[1]}"
        note(
            f"  {where}: {diagnostic.pointer or '(document)'}: {diagnostic.message}"
            + (f" ({diagnostic.hint})" if diagnostic.hint else "")
        )
    if error.problem.hint:
        note(f"hint: {error.problem.hint}")
    raise typer.Exit(exit_of(error))


def _name(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


_FILE = "nightly.yaml"
add(app, "run", run, (f"zoe workflow run {_FILE}", f"zoe workflow run {_FILE} --param day=2026-11-01 --wait"))
add(app, "plan", plan, (f"zoe workflow plan {_FILE} --finish-by 08:00",))
add(app, "validate", validate, (f"zoe workflow validate {_FILE}",))
add(app, "ls", show_list, ("zoe workflow ls",))
add(app, "show", show, ("zoe workflow show w1m7xhnzn3f4144",))
add(app, "wait", wait, ("zoe workflow wait w1m7xhnzn3f4144 --timeout 3600",))
add(app, "accept", accept, ("zoe workflow accept w1m7xhnzn3f4144 2",))
add(app, "cancel", cancel, ("zoe workflow cancel w1m7xhnzn3f4144",))
add(app, "resume", resume, ("zoe workflow resume w1m7xhnzn3f4144 --wait",))
