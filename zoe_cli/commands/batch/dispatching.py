"""dispatch: run a stored application with parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zoe_cli.commands.batch import workflows
from zoe_cli.commands.batch.stored_applications import Name, OfTenant, Version
from zoe_cli.commands.batch.workflows import Key, Parameters, Timeout, given_parameters
from zoe_cli.commands.running.submitting import After, Array, Begin, Conditions, Deadline, Hold, Keep, Wait
from zoe_cli.commands.watching import ending
from zoe_cli.commands.words import dates
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.errors import NotFound
from zoe_client.vocabulary import RunKind

if TYPE_CHECKING:
    from zoe_client.wire import RunView


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = ("zoe dispatch report --param day=friday", "zoe dispatch report --param rows=7 --idempotency-key 7 -w")
    add(app, "dispatch", dispatch, examples)


def dispatch(
    context: typer.Context,
    name: Name,
    parameters: Parameters = None,
    version: Version = None,
    of_tenant: OfTenant = False,
    run_name: Annotated[
        str | None, typer.Option("--name", help="Name of the run (default: the application's).")
    ] = None,
    priority: Annotated[
        int | None, typer.Option(help="Priority; executions with a higher one are considered first.")
    ] = None,
    deadline: Deadline = None,
    array: Array = None,
    after: After = None,
    keep: Keep = False,
    begin: Begin = None,
    hold: Hold = False,
    wait: Wait = False,
    timeout: Timeout = None,
    key: Key = None,
) -> None:
    """Run a stored application (`zoe app`) as an execution, an array or a workflow."""
    by = None if deadline is None else dates.deadline(deadline)
    given = {"version": version, "name": run_name, "priority": priority, "deadline": by}
    more = {**given, **Conditions(tuple(after or ()), keep, begin, hold, array).fields()}
    more = {option: entry for option, entry in more.items() if entry is not None}
    if "/" in name or Path(name).is_file():
        how = f"`zoe run {name}` runs a description, `zoe sbatch {name}` a script; `zoe app put NAME {name}` stores it"
        raise typer.BadParameter(f"{name!r} is a file, not the name of a stored application: {how}")
    with options(context).client() as client, hint_if_unknown():
        run = client.applications.dispatch(
            name, given_parameters(parameters), of_tenant=of_tenant, idempotency_key=key, **more
        )
    show_run(context, run, wait or timeout is not None, timeout)


@contextmanager
def hint_if_unknown() -> Iterator[None]:
    """Explain where names of stored applications come from, if the name is unknown."""
    try:
        yield
    except NotFound as error:
        hint = "`zoe app ls` lists stored applications, `zoe app put NAME FILE` stores one; scripts: `zoe sbatch`"
        error.problem = error.problem.model_copy(update={"hint": hint})
        raise


def show_run(context: typer.Context, run: RunView, wait: bool, timeout_s: float | None = None) -> None:
    """Print the new run, or wait for its end and print the result."""
    for text in run.notes:
        note(f"note: {text}")
    if not wait:
        emit(run, options(context).output, Rows(("id", "kind"), [(run.id, run.kind.value)]))
        return
    note(f"it is {run.kind.value} {run.id}")
    wait_for = workflows.wait if run.kind is RunKind.WORKFLOW else ending.wait
    wait_for(context, [run.id], timeout_s)
