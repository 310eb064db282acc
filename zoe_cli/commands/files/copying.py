"""cp: files between this machine and workspaces, or the object store."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from zoe_cli.commands.files.copier import Copier
from zoe_cli.commands.words.file_places import FORMS, FilePlace, read_place
from zoe_cli.context import options
from zoe_cli.output import note
from zoe_cli.registry import add
from zoe_cli.text import printable

_EXAMPLES = (
    "zoe cp data.csv :",
    "zoe cp -r project/ :work/project",
    "zoe cp :work/out.csv .",
    "zoe cp model.bin shared:models/",
    "zoe cp -r meters/ swift2d://meters.zoe/2026",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "cp", copy, _EXAMPLES, results=False)


def copy(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE... TARGET", help=f"One side is {FORMS}."),
    ],
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Copy directories with their contents.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also copy what .gitignore and .zoeignore of a directory leave out.")
    ] = False,
) -> None:
    """Copy files to or from a workspace or the object store.

    Files that .gitignore and .zoeignore of a local directory name are left out.

    Repeat an interrupted copy to resume it, also of a directory. A file appears under its name when it is complete. A
    directory goes into an existing TARGET, under its own name; with a slash after SOURCE and none after TARGET, its
    contents do, so that a repeated copy updates the first one. In a workspace, bytes that are not UTF-8, unprintable
    characters and `%` are written `%XX`.
    """
    if len(paths) < 2:
        raise typer.BadParameter("name at least one source, and the target")
    try:
        _copy(context, paths, recursive, everything)
    except KeyboardInterrupt:
        again = ["zoe", "cp", *(["-r"] if recursive else []), *(["--all"] if everything else []), *paths]
        note(f"the copy goes on where it ended by: {printable(shlex.join(again))}")
        raise


def _copy(context: typer.Context, paths: list[str], recursive: bool, everything: bool) -> None:
    *sources, target = paths
    to, froms = read_place(target), [read_place(source) for source in sources]
    with options(context).following() as client:
        copier = Copier(client.files, recursive, client.url, everything=everything)
        for source, place in zip(sources, froms, strict=True):
            match place, to:
                case None, FilePlace():
                    many = len(sources) > 1 or target.endswith(("/", ":"))
                    copier.upload(Path(source), to, many=many, contents=source.endswith("/"))
                case FilePlace(), None:
                    many = len(sources) > 1 or target.endswith("/") or Path(target).name in ("", "..")
                    copier.download(place, Path(target), many=many, contents=source.endswith("/"))
                case _:
                    raise typer.BadParameter(f"copy between this machine and Zoe: one side is {FORMS}")
        copier.close()
