"""Show workflows: lists, and the graph of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from zoe_cli.commands.watching.workflow_promises import workflow_lines
from zoe_cli.context import options
from zoe_cli.output import Format, emit, note
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.documents.shortening import shortened_list
from zoe_client.vocabulary import IndexState

if TYPE_CHECKING:
    from zoe_client.wire import EntriesView, StepPlan, StepView, WorkflowPlan, WorkflowSummary, WorkflowView

WorkflowId = Annotated[str, typer.Argument(metavar="ID", help="Id of the workflow.")]
_NAMED_MAX = 6
"""Maximum steps named in a line; after a matrix, a step may depend on hundreds."""


def list_rows(workflows: Sequence[WorkflowSummary]) -> Rows:
    """Return a row for each workflow."""
    rows = [
        (
            workflow.id,
            workflow.name,
            workflow.user,
            workflow.state.value,
            step_counts(workflow),
            clock(workflow.submitted_at_s),
        )
        for workflow in workflows
    ]
    return Rows(("id", "name", "user", "state", "steps", "submitted"), rows)


def plan_rows(plan: WorkflowPlan) -> Rows:
    """Return a row for each step of the plan: its name, and its dependencies."""
    names = [step.name for step in plan.steps]

    def dependency_name(text: str) -> str:
        kind, _, number = text.partition(":#")
        return f"{kind}:{names[int(number)]}"

    return Rows(
        ("step", "after"),
        [(_step_label(step), _shorten_names(list(map(dependency_name, step.after)))) for step in plan.steps],
    )


def _step_label(step: StepPlan) -> str:
    """Return the name of a step, and its entries."""
    for name, source in step.for_each.items():
        return f"{step.name} (for each {name} of {source})"
    return step.name


def graph_rows(found: WorkflowView) -> Rows:
    """Return a row for each step: name, dependencies, state, execution, message."""
    rows = [
        (step.name, _shorten_names(step.after), _state(step), step.execution_id, step.message) for step in found.graph
    ]
    return Rows(("step", "after", "state", "execution", "message"), rows)


def _state(step: StepView) -> str:
    """Return the state of a step, and how many of its entries have succeeded."""
    state = step.state.value.replace("_", " ")
    return state if step.entries is None else f"{state}, {entries_text(step.entries)}"


def entries_text(entries: EntriesView) -> str:
    """Return the progress of a list's entries, such as `3 of 10 entries, 1 failed`."""
    if entries.count is None:
        return "its list is refused" if entries.problem else "its list is not read"
    if entries.count == 0:
        return "0 entries"
    done, failed = (entries.states.get(entry, 0) for entry in (IndexState.SUCCEEDED, IndexState.FAILED))
    return f"{done} of {entries.count} entries" + (f", {failed} failed" if failed else "")


def name_failures(ended: WorkflowView) -> bool:
    """Print the outcome and the failed steps of an unsuccessful workflow; return whether it failed."""
    if ended.state == "succeeded":
        return False
    note(f"zoe: {ended.name} ({ended.id}) {'was cancelled' if ended.state == 'cancelled' else 'failed'}")
    for step in ended.graph:
        if step.state == "failed":
            note(f"  {step.name} ({step.execution_id}) failed" + (f": {step.message}" if step.message else ""))
    return True


def _shorten_names(names: Sequence[str]) -> str:
    return shortened_list(names, _NAMED_MAX)


def summary_lines(found: WorkflowView) -> Iterator[str]:
    """Yield the lines above the graph."""
    yield f"{found.name} ({found.id}): {found.state.value}, {step_counts(found)}"
    if found.run > 1:
        yield f"resumed; run {found.run}"
    yield from workflow_lines(found)
    for name, value in found.parameters.items():
        yield f"{name} = {value}"


def step_counts(one: WorkflowSummary) -> str:
    """Return numbers of steps by state, such as `3/5 succeeded, 1 failed, 1 running`."""
    done = sum(number for state, number in one.steps.items() if state == "succeeded")
    others = [
        f"{number} {state.value.replace('_', ' ')}" for state, number in one.steps.items() if state != "succeeded"
    ]
    return f"{done}/{one.steps_total} succeeded" + "".join(f", {text}" for text in others)


def show(context: typer.Context, workflow_id: WorkflowId) -> None:
    """Show a workflow: its graph, with the state of each step."""
    with options(context).client() as client:
        found = client.workflows.one(workflow_id)
    if options(context).output is Format.TABLE:
        for line in summary_lines(found):
            note(line)
    emit(found, options(context).output, graph_rows(found))
