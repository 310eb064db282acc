"""Turn a command of `run` or `spark-submit` into a description, and copy its larger files to the workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from zoe_cli.commands.files.ignored import looks_secret
from zoe_cli.context import options
from zoe_cli.output import note
from zoe_cli.text import printable

if TYPE_CHECKING:
    from zoe_client.running.drafts import Draft

_SECRETS = "`zoe secret set` stores them instead, for --secret"


def described(
    context: typer.Context, make: Callable[[], Draft], *, show: bool, written: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the description of a command with its files; BadParameter for files that cannot go with it.

    show: copy nothing, and tell which files the description expects in the workspace. written: results, which need not
    exist.
    """
    try:
        draft = make()
    except ValueError as error:
        raise _refused(error) from None
    _tell_surprises(draft, written)
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


def _tell_surprises(draft: Draft, written: Sequence[str]) -> None:
    """Say which words stay here or name no file, and which files look like secrets."""
    for word in draft.carried.stay:
        shown, directory = printable(word), Path(word).is_dir()
        kind = "a directory" if directory else "a link to nothing"
        copy = f"; `zoe cp -r {shown} :` copies it to the workspace, where the program runs" if directory else ""
        note(f"note: {shown} is {kind}, and does not go with the run{copy}")
    for word in (printable(one) for one in draft.carried.missing if one not in written):
        note(f"note: there is no file {word} here: if the program reads it, the workspace or the image must have it")
    secret = [str(file.path) for file in draft.carried.files.values() if looks_secret(file.path, file.size)]
    if secret:
        names = ", ".join(map(printable, secret))
        note(f"warning: these look like passwords or private keys, and go with the run: {names}; {_SECRETS}")


def _refused(error: ValueError) -> typer.BadParameter:
    return typer.BadParameter("\n".join(map(printable, str(error).splitlines())))
