"""array: show an array with its indices, list arrays, requeue failed indices, change an array."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from zoe_cli.commands.running.controlling import requeue_each
from zoe_cli.commands.watching.array_views import ArrayId, show
from zoe_cli.commands.words import dates
from zoe_cli.commands.words.array_rows import array_rows, plain
from zoe_cli.commands.words.documents import Settings, set_in
from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_client.wire import ArrayModifyRequest

app = typer.Typer(help="Arrays: one application that runs for each of many indices.", no_args_is_help=True)

_NONE = "none"


def ls(
    context: typer.Context,
    open_only: Annotated[bool, typer.Option("--open", help="Only arrays with indices that have not ended.")] = False,
    all_tenants: Annotated[bool, typer.Option("--all-tenants", help="Arrays of all tenants; operators only.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="Maximum number of arrays.")] = 50,
) -> None:
    """List arrays, newest first."""
    with options(context).client() as client:
        page = client.arrays.list(open_only=open_only, all_tenants=all_tenants, limit=limit)
    emit(page, options(context).output, array_rows([plain(array) for array in page.arrays]))


def requeue(context: typer.Context, array_id: ArrayId) -> None:
    """Run the failed and cancelled indices of an array again, each as a new execution."""
    requeue_each(context, [array_id])


def modify(
    context: typer.Context,
    array_id: ArrayId,
    priority: Annotated[int | None, typer.Option(help="Priority of all indices that wait.")] = None,
    at_once: Annotated[
        str | None, typer.Option("--at-once", metavar="N|none", help="How many indices may be active at once.")
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(metavar="TIME|none", help="When all should have ended: +3h, 08:00 (the next), or a date."),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option("--time-limit", metavar="DURATION|none", help="Longest time that an index that waits may run."),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(metavar="TIME|none", help="When indices may enter the queue: +3h, 08:00 (the next), or a date."),
    ] = None,
    settings: Settings = None,
) -> None:
    """Change an array: concurrent indices, priority, deadline, time limit, begin, and component settings of indices
    that have not begun.
    """
    changes: dict[str, Any] = {} if priority is None else {"priority": priority}
    if at_once is not None:
        if at_once != _NONE and not (at_once.isascii() and at_once.isdecimal()):
            raise typer.BadParameter(f"{at_once!r} is neither a number nor `none`; use --at-once 10")
        changes["at_once_max"] = None if at_once == _NONE else int(at_once)
    if deadline is not None:
        changes |= {"deadline_s": None} if deadline == _NONE else {"deadline": dates.deadline(deadline)}
    if time_limit is not None:
        changes["time_limit_s"] = None if time_limit == _NONE else dates.duration(time_limit)
    if begin is not None:
        changes["begin_at_s"] = None if begin == _NONE else dates.coming(begin)
    if not changes and not settings:
        known = "--priority, --at-once, --deadline, --time-limit, --begin or --set"
        raise typer.BadParameter(f"say what to change: {known}")
    with options(context).client() as client:
        if settings:
            changes["application"] = set_in(client.arrays.array(array_id).description, settings)
        array = client.arrays.modify(array_id, ArrayModifyRequest(**changes))
    emit(array, options(context).output, array_rows([plain(array)]))


add(app, "show", show, ("zoe array show a1m7xhnzn3f4144", "zoe array show a1m7xhnzn3f4144 -s failed"))
add(app, "ls", ls, ("zoe array ls --open",))
add(app, "requeue", requeue, ("zoe array requeue a1m7xhnzn3f4144",))
add(
    app,
    "modify",
    modify,
    ("zoe array modify a1m7xhnzn3f4144 --at-once 100", "zoe array modify a1m7xhnzn3f4144 --set main.resources.cores=2"),
)
