"""rm: delete files of workspaces, or objects."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.commands.words.file_places import FORMS, read_place
from zoe_cli.context import options
from zoe_cli.output import note
from zoe_cli.registry import add
from zoe_cli.text import printable

_EXAMPLES = ("zoe rm :work/out.csv", "zoe rm -r :old-results shared:tmp")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "rm", remove, _EXAMPLES, results=False)


def remove(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PLACE...", help=f"Each is {FORMS}.")],
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Delete directories with their contents.")
    ] = False,
) -> None:
    """Delete files of a workspace, or of the object store. Files of this machine are never deleted."""
    places = [(path, read_place(path)) for path in paths]
    for path, place in places:
        if place is None:
            raise typer.BadParameter(f"{path} is a file of this machine: files of the workspace begin with a colon")
        if not place.path:
            raise typer.BadParameter(f"{path} is a whole workspace: name files or directories in it")
    with options(context).client() as client:
        for path, place in places:
            if place is not None:
                client.files.delete(place.path, place.root, recursive=recursive)
                note(f"deleted {printable(path)}")
