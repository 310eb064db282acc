"""Turn a command of `run` or `spark-submit` into a description, and copy its larger files to the workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from zoe_cli.context import options
from zoe_cli.output import note
from zoe_cli.text import printable

if TYPE_CHECKING:
    from zoe_client.running.drafts import Draft


def described(context: typer.Context, make: Callable[[], Draft], *, show: bool) -> dict[str, Any]:
    """Return the description of a command with its files; BadParameter for files that cannot go with it.

    show: copy nothing, and tell which files the description expects in the workspace.
    """
    try:
        draft = make()
    except ValueError as error:
        raise _refused(error) from None
    if show:
        _tell_expected(draft)
    return draft.embedded() if show or draft.fits else _carried(context, draft)


def _carried(context: typer.Context, draft: Draft) -> dict[str, Any]:
    from zoe_cli.commands.files.copier import progress_bar
    from zoe_client.running.bundles import carry
    from zoe_client.running.carried import CannotCarry

    try:
        with options(context).following() as client, progress_bar("files of the run") as progress:
            return carry(client.files, draft, progress)
    except CannotCarry as error:
        raise _refused(error) from None


def _tell_expected(draft: Draft) -> None:
    """Say which files the description expects in the workspace, since they do not fit into it."""
    if draft.fits:
        return
    from zoe_client.running.carried import copy_command

    texts = draft.carried.embedded()
    for name, file in draft.carried.files.items():
        if name not in texts:
            command = printable(copy_command(name, file))
            note(f"note: {printable(str(file.path))} does not fit into a description, which expects a copy: {command}")


def _refused(error: ValueError) -> typer.BadParameter:
    return typer.BadParameter("\n".join(map(printable, str(error).splitlines())))
