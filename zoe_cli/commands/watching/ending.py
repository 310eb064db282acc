"""wait: wait for the end of executions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, cast

import typer

from zoe_cli.commands.watching.notes.waiting import WaitingNote
from zoe_cli.commands.words.arguments import ExitCodeFromApp, WaitedIds
from zoe_cli.commands.words.array_rows import all_rows, indices_text, is_array, is_workflow, plain
from zoe_cli.commands.words.dates import seconds
from zoe_cli.commands.words.store_words import store_words
from zoe_cli.commands.words.views import rows_of
from zoe_cli.context import on_terminal, options
from zoe_cli.exits import Exit, exit_of
from zoe_cli.output import emit, note, report
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.errors import Refused, TimedOut, ZoeError
from zoe_client.quick.plain import Array, Execution
from zoe_client.vocabulary import TERMINAL_STATES, ExecutionState, IndexState

if TYPE_CHECKING:
    from zoe_client.client import Client
    from zoe_client.wire import WorkflowView

Timeout = Annotated[
    float | None,
    typer.Option(
        parser=seconds,
        metavar="DURATION",
        help="Stop waiting after this time: 90m, 12h, or seconds (exit code 124); the execution continues.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "wait", wait, ("zoe wait x1m7xhnzn3f4144 --timeout 600", "zoe wait $(zoe ls -s running -o name)"))


def wait(
    context: typer.Context,
    execution_ids: WaitedIds,
    timeout: Timeout = None,
    exit_code_from_app: ExitCodeFromApp = False,
) -> None:
    """Wait until executions, arrays and workflows have ended; exit with 0 if all succeeded. Each failure is printed,
    and the first gives the exit code.
    """
    give_up_s = None if timeout is None else time.monotonic() + timeout
    ended = _EndedItems()
    gave_up: ZoeError | None = None
    with options(context).quick() as quick, options(context).following() as client:
        for execution_id in execution_ids:
            try:
                left_s = None if give_up_s is None else max(give_up_s - time.monotonic(), 0.0)
                if is_workflow(execution_id):
                    ended.workflows.append(client.wait_for_workflow(execution_id, left_s))
                elif is_array(execution_id):
                    ended.arrays.append(wait_for_array(client, execution_id, left_s))
                else:
                    ended.executions.append(wait_for(client, quick.execution(execution_id), give_up_s))
            except (Refused, TimedOut) as error:
                if len(execution_ids) == 1:
                    raise
                note(f"{execution_id}:")
                report(error)
                gave_up = gave_up or error
    emit(ended.document(), options(context).output, ended.rows())
    codes = ended.exit_codes(exit_code_from_app)
    if gave_up is not None:
        raise typer.Exit(exit_of(gave_up))
    if codes:
        raise typer.Exit(codes[0])


@dataclass
class _EndedItems:
    """Ended executions, arrays and workflows by kind, each in the order of the arguments."""

    executions: list[Execution] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    workflows: list[WorkflowView] = field(default_factory=list)

    def document(self) -> Mapping[str, object]:
        """Return a single item itself, else all by kind."""
        workflows = [workflow.model_dump(mode="json") for workflow in self.workflows]
        found = [*self.executions, *self.arrays, *workflows]
        if len(found) == 1:
            return cast("Mapping[str, object]", found[0])
        others = {"arrays": self.arrays, "workflows": workflows}
        executions = {"executions": self.executions} if self.executions or not workflows or self.arrays else {}
        return executions | {name: ones for name, ones in others.items() if ones}

    def rows(self) -> Rows:
        if not self.workflows:
            return all_rows(self.arrays, self.executions) if self.arrays else rows_of(self.executions)
        from zoe_cli.commands.watching.workflow_views import list_rows, step_counts

        if not self.executions and not self.arrays:
            return list_rows(self.workflows)
        table = all_rows(self.arrays, self.executions)
        between = [""] * (len(table.columns) - 5)
        of_workflows = [
            (workflow.id, workflow.name, workflow.user, workflow.state.value, *between, step_counts(workflow))
            for workflow in self.workflows
        ]
        return Rows(table.columns, [*table.rows, *of_workflows])

    def exit_codes(self, from_app: bool) -> list[int]:
        """Print each failure, and return the exit code of the first."""
        codes = [code for execution in self.executions if (code := exit_code_of(execution, from_app))]
        codes += [code for array in self.arrays if (code := array_exit_code(array))]
        if self.workflows:
            from zoe_cli.commands.watching.workflow_promises import is_refused
            from zoe_cli.commands.watching.workflow_views import name_failures

            failed = [workflow for workflow in self.workflows if name_failures(workflow)]
            codes += [int(Exit.DEADLINE if is_refused(workflow) else Exit.APPLICATION_FAILED) for workflow in failed]
        return codes


def wait_for(client: Client, execution: Execution, give_up_s: float | None) -> Execution:
    """Return the ended execution, tell why it waits, and show its progress on a terminal; TimedOut after
    `give_up_s`.
    """
    if execution["state"] in TERMINAL_STATES:
        return execution

    def read() -> Execution:
        return cast(Execution, client.execution(execution["id"]).model_dump(mode="json"))

    waiting = WaitingNote(read, lambda: client)
    if execution["reason"] is not None or execution["conditions"] is not None:
        waiting.tell()  # the event of this reason may be in the past, as for a held execution
    for event, state in client.follow(execution["id"], deadline_s=give_up_s):
        if event.kind == "reason_changed":
            waiting.tell()
        elif on_terminal() and (words := state or store_words(event.kind, event.data)):
            note(f"{clock(event.at_s)}  {execution['name']}: {words}")
    return read()


def wait_for_array(client: Client, array_id: str, timeout_s: float | None) -> Array:
    """Return an array after all its indices have ended, and print the failed ones; TimedOut."""
    array = client.arrays.wait(array_id, timeout_s)
    for state in (IndexState.FAILED, IndexState.CANCELLED):
        if text := array.ranges.get(state):
            note(f"zoe: {array.name} ({array.id}): {indices_text(text)} {state.value}")
    return plain(array)


def array_exit_code(array: Array) -> int:
    """Return 0 if all indices succeeded, else the exit code for a failed application."""
    return 0 if array["state"] == ExecutionState.SUCCEEDED else Exit.APPLICATION_FAILED


def finish(execution: Execution, exit_code_from_app: bool) -> None:
    """Exit with the code of the application, unless it succeeded."""
    if code := exit_code_of(execution, exit_code_from_app):
        raise typer.Exit(code)


def exit_code_of(execution: Execution, from_app: bool) -> int:
    """Return 0 if it succeeded; else print how it ended, and return the exit code for that."""
    if execution["state"] == ExecutionState.SUCCEEDED:
        return 0
    code = execution["exit_code"]
    why = execution["message"] or (f"exit code {code}" if code else "")
    note(f"zoe: {execution['name']} ({execution['id']}) {_HOW[execution['state']]}{f': {why}' if why else ''}")
    return code if from_app and code else Exit.APPLICATION_FAILED


_HOW: dict[str, str] = {ExecutionState.FAILED: "failed", ExecutionState.CANCELLED: "was cancelled"}
