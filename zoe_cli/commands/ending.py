"""wait: the ends of executions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, cast

import typer

from zoe_cli.commands.arguments import ExitCodeFromApp, Ids
from zoe_cli.commands.array_rows import all_rows, is_array, is_workflow, plain
from zoe_cli.commands.views import rows_of
from zoe_cli.context import on_terminal, options
from zoe_cli.exits import Exit, exit_of
from zoe_cli.output import emit, note, report
from zoe_cli.registry import add
from zoe_cli.units import clock
from zoe_client.errors import Refused, TimedOut, ZoeError
from zoe_client.plain import Array, Execution
from zoe_client.vocabulary import TERMINAL_STATES, ExecutionState, IndexState

if TYPE_CHECKING:
    from zoe_client.client import Client

Timeout = Annotated[
    float | None,
    typer.Option(min=0, help="Stop waiting after this many seconds (exit code 124); the execution continues."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "wait", wait, ("zoe wait x1m7xhnzn3f4144 --timeout 600", "zoe wait $(zoe ls -s running -o name)"))


def wait(
    context: typer.Context, execution_ids: Ids, timeout: Timeout = None, exit_code_from_app: ExitCodeFromApp = False
) -> None:
    """Wait until executions and arrays have ended, or workflows; exit with 0 if all succeeded. Each failure is named,
    and the first gives the exit code.
    """
    if all(is_workflow(one) for one in execution_ids):
        from zoe_cli.commands.workflows import wait as wait_for_workflows

        wait_for_workflows(context, execution_ids, timeout)
        return
    give_up_s = None if timeout is None else time.monotonic() + timeout
    ended: list[Execution] = []
    arrays: list[Array] = []
    gave_up: ZoeError | None = None
    with options(context).quick() as quick, options(context).following() as client:
        for execution_id in execution_ids:
            try:
                if is_array(execution_id):
                    left_s = None if give_up_s is None else max(give_up_s - time.monotonic(), 0.0)
                    arrays.append(wait_for_array(client, execution_id, left_s))
                else:
                    ended.append(wait_for(client, quick.execution(execution_id), give_up_s))
            except (Refused, TimedOut) as error:
                if len(execution_ids) == 1:
                    raise
                note(f"{execution_id}:")
                report(error)
                gave_up = gave_up or error
    result: Mapping[str, object] = {"executions": ended}
    if len(ended) + len(arrays) == 1:
        result = (ended or arrays)[0]
    elif arrays:
        result = {"executions": ended, "arrays": arrays}
    emit(result, options(context).output, all_rows(arrays, ended) if arrays else rows_of(ended))
    codes = [code for execution in ended if (code := exit_code_of(execution, exit_code_from_app))]
    codes += [code for array in arrays if (code := array_exit_code(array))]
    if gave_up is not None:
        raise typer.Exit(exit_of(gave_up))
    if codes:
        raise typer.Exit(codes[0])


def wait_for(client: Client, execution: Execution, give_up_s: float | None) -> Execution:
    """Return the ended execution, and report its progress to people; TimedOut after `give_up_s`."""
    if execution["state"] in TERMINAL_STATES:
        return execution
    for event, state in client.follow(execution["id"], deadline_s=give_up_s):
        if not on_terminal():
            continue
        if state is not None:
            note(f"{clock(event.at_s)}  {execution['name']}: {state.value}")
        elif event.kind == "reason_changed":
            reason = event.data.get("reason")
            note(f"{clock(event.at_s)}  waits: {reason.get('sentence') if isinstance(reason, dict) else ''}")
    return cast(Execution, client.execution(execution["id"]).model_dump(mode="json"))


def wait_for_array(client: Client, array_id: str, timeout_s: float | None) -> Array:
    """Return an array all of whose indices have ended, and name those that failed; TimedOut."""
    array = client.arrays.wait(array_id, timeout_s)
    for state in (IndexState.FAILED, IndexState.CANCELLED):
        if text := array.ranges.get(state):
            note(f"zoe: {array.name} ({array.id}): {state.value}: {text}")
    return plain(array)


def array_exit_code(array: Array) -> int:
    """Return 0 if all indices succeeded, else the exit code for a failed application."""
    return 0 if array["state"] == ExecutionState.SUCCEEDED else Exit.APPLICATION_FAILED


def finish(execution: Execution, exit_code_from_app: bool) -> None:
    """End this command as the application ended, unless it succeeded."""
    if code := exit_code_of(execution, exit_code_from_app):
        raise typer.Exit(code)


def exit_code_of(execution: Execution, from_app: bool) -> int:
    """Return 0 if it succeeded; else say how it ended, and return the exit code for that."""
    if execution["state"] == ExecutionState.SUCCEEDED:
        return 0
    code = execution["exit_code"]
    why = execution["message"] or (f"exit code {code}" if code else "")
    note(f"zoe: {execution['name']} ({execution['id']}) {_HOW[execution['state']]}{f': {why}' if why else ''}")
    return code if from_app and code else Exit.APPLICATION_FAILED


_HOW: dict[str, str] = {ExecutionState.FAILED: "failed", ExecutionState.CANCELLED: "was cancelled"}
