"""Show arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from zoe_cli.commands.watching.workflow_promises import array_lines
from zoe_cli.commands.watching.workflow_views import entries_text
from zoe_cli.commands.words.array_rows import array_rows, counts_text, indices_text, plain
from zoe_cli.commands.words.states import states_option
from zoe_cli.context import options
from zoe_cli.output import Format, emit, table, write
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import clock, duration
from zoe_client.vocabulary import ExecutionState, IndexState
from zoe_client.wire import ArrayView, IndexView

ArrayId = Annotated[str, typer.Argument(metavar="ARRAY", help="Id of an array.")]
_LABEL_WIDTH = 18


def show(
    context: typer.Context,
    array_id: ArrayId,
    state: Annotated[
        list[str] | None,
        states_option(IndexState, "List the indices in these states, such as failed,cancelled, with their executions."),
    ] = None,
) -> None:
    """Show an array: indices by state."""
    form = options(context).output
    with options(context).client() as client:
        array = client.arrays.array(array_id)
        found = list(client.arrays.indices(array_id, [IndexState(one) for one in state])) if state else []
    if form is not Format.TABLE:
        document: dict[str, Any] = array.model_dump(mode="json")
        if state:
            document["found"] = [index.model_dump(mode="json") for index in found]
        emit(document, form, array_rows([plain(array)]))
        return
    write("".join(f"{label:<{_LABEL_WIDTH}}{printable(text)}".rstrip() + "\n" for label, text in _facts(array)))
    if state:
        write("\n" + table(_rows(found)))


def _facts(array: ArrayView) -> list[tuple[str, str]]:
    shown = plain(array)
    lines = [
        ("id", array.id),
        ("name", array.name),
        ("user", f"{array.user} in {array.tenant}"),
        ("state", array.state.value + _end_text(array)),
        ("indices", f"{array.indices} ({array.size})"),
        ("at once", "any number" if array.at_once_max is None else str(array.at_once_max)),
        ("submitted", clock(array.submitted_at_s)),
    ]
    if array.entries is not None:
        lines.append(("list", entries_text(array.entries)))
    if array.deadline_s is not None:
        late = "" if array.late_count is None else f"; missed by {array.late_count} that had not begun"
        lines.append(("deadline", clock(array.deadline_s) + late))
    if array.run > 1:
        lines.append(("run", str(array.run)))
    if array.reason is not None:
        lines.append(("waits", array.reason.sentence))
        lines += [("hint", array.reason.hint)] if array.reason.hint else []
    lines += _conditions(array)
    if array.ran_s is not None:
        lines.append(("ran", duration(array.ran_s)))
    if array.ended_at_s is not None:
        lines.append(("ended", clock(array.ended_at_s)))
    lines.append(("counts", counts_text(shown["counts"], shown["active_states"])))
    lines += [(state.value, indices_text(text)) for state, text in array.ranges.items()]
    lines += [("promise", text) for text in array_lines(array)]
    return lines + [("note", text) for text in array.notes]


def _end_text(array: ArrayView) -> str:
    cause = f", cause {array.cause}" if array.cause is not None and array.state is ExecutionState.FAILED else ""
    return cause + (f": {array.message}" if array.message else "")


def _conditions(array: ArrayView) -> Iterator[tuple[str, str]]:
    """Yield what keeps its indices, or has kept them, from running."""
    if array.conditions is not None:
        if array.conditions.held is not None:
            yield "held by", array.conditions.held
        for entry in array.conditions.after:
            how = {None: "has not ended", True: "met", False: "not met"}[entry.met]
            yield "runs after", f"{entry.kind.value}:{entry.on} ({how})"
        if array.conditions.begin_at_s is not None:
            yield "begins", f"{clock(array.conditions.begin_at_s)} or later"
    for array_id in array.corr:
        yield "runs after", f"corr:{array_id} (each index after the same one)"


def _rows(found: list[IndexView]) -> Rows:
    rows = [
        (index.index, index.state.value, index.execution_id or "", index.exit_code, index.cause or "", index.message)
        for index in found
    ]
    return Rows(("index", "state", "execution", "exit", "cause", "message"), rows)
