"""Arguments that several commands share, and how a command runs for several ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from zoe_cli.commands.words.completion import execution_ids
from zoe_cli.context import options
from zoe_cli.exits import exit_of
from zoe_cli.output import Format, collecting, emit_data, note, report, write
from zoe_cli.registry import add_hint
from zoe_client.errors import Refused
from zoe_client.words.names import TENANT_AT_THE_STORE

_TENANT_MAX = 256


def _check(value: str) -> str:
    if not value or not value.isprintable():
        raise typer.BadParameter("not a valid id; `zoe ls` shows the ids")
    return value


def _check_all(values: list[str]) -> list[str]:
    return [_check(value) for value in values]


def _check_some(values: list[str] | None) -> list[str] | None:
    return values and _check_all(values)


def tenant_of_the_store(name: str) -> str:
    """Return a valid tenant name; typer's BadParameter."""
    if not re.fullmatch(TENANT_AT_THE_STORE, name) or len(name) > _TENANT_MAX:
        raise typer.BadParameter(
            f"{name!r} cannot be the name of a tenant: it has 1 to 256 characters without spaces, '#', ':' and '/'"
        )
    return name


Id = Annotated[
    str, typer.Argument(metavar="ID", help="Id of an execution.", autocompletion=execution_ids, callback=_check)
]
Ids = Annotated[
    list[str],
    typer.Argument(
        metavar="ID", help="IDs of executions or arrays.", autocompletion=execution_ids, callback=_check_all
    ),
]
OptionalIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]", help="IDs of executions or arrays.", autocompletion=execution_ids, callback=_check_some
    ),
]
WaitedIds = Annotated[
    list[str],
    typer.Argument(
        metavar="ID",
        help="Ids of executions, arrays or workflows.",
        autocompletion=execution_ids,
        callback=_check_all,
    ),
]
ExitCodeFromApp = Annotated[
    bool, typer.Option("--exit-code-from-app", help="Wait, and exit with the application's exit code.")
]


def for_each(context: typer.Context, ids: Sequence[str], one: Callable[[str], None]) -> None:
    """Run it for each id, as for one alone; JSON and YAML become a list. Report each refusal, and fail as the first."""
    if len(ids) == 1:
        one(ids[0])
        return
    form, found, code = options(context).output, list[Any](), 0
    for place, id_ in enumerate(dict.fromkeys(ids)):
        if form is Format.TABLE:
            write(f"{'' if place == 0 else chr(10)}{id_}:\n")
        try:
            with collecting(found):
                one(id_)
        except Refused as error:
            if form is not Format.TABLE:
                note(f"{id_}:")
            add_hint(context, error)
            report(error)
            code = code or exit_of(error)
        except typer.Exit as ended:
            code = code or ended.exit_code
    if form in (Format.JSON, Format.YAML):
        emit_data(found, form)
    raise typer.Exit(code)
