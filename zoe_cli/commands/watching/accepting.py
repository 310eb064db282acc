"""accept: take an offer for an execution or array whose deadline cannot be promised."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.commands.words.arguments import Id
from zoe_cli.commands.words.array_rows import array_rows, is_array, plain
from zoe_cli.commands.words.promise_words import promise_lines
from zoe_cli.commands.words.views import rows_of
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "accept", accept, ("zoe accept x1m7xhnzn3f4144", "zoe accept x1m7xhnzn3f4144 2"))


def accept(
    context: typer.Context,
    execution_id: Id,
    offer: Annotated[int, typer.Argument(min=1, max=10, metavar="NUMBER", help="Number of the offer.")] = 1,
) -> None:
    """Accept an offer for an execution or an array whose deadline cannot be promised."""
    if is_array(execution_id):
        _accept_array(context, execution_id, offer)
        return
    with options(context).quick() as client:
        execution = client.accept(execution_id, offer)
    for line in promise_lines(execution):
        note(line)
    emit(execution, options(context).output, rows_of([execution]))


def _accept_array(context: typer.Context, array_id: str, offer: int) -> None:
    from zoe_cli.commands.watching.workflow_promises import array_lines

    with options(context).client() as client:
        array = client.arrays.accept(array_id, offer)
    for line in array_lines(array):
        note(line)
    emit(array, options(context).output, array_rows([plain(array)]))
