"""fetch: copy the results of an execution to this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zoe_cli.commands.files.copier import Copier
from zoe_cli.commands.words.arguments import Id
from zoe_cli.commands.words.array_rows import is_array
from zoe_cli.commands.words.file_places import FilePlace
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import note, write
from zoe_cli.registry import add
from zoe_cli.text import printable
from zoe_client.vocabulary import IndexState, WorkspaceKind
from zoe_client.words.file_paths import path_parts

if TYPE_CHECKING:
    from zoe_client.client import Client


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "fetch", fetch, ("zoe fetch x1m7xhnzn3f4144", "zoe fetch x1m7xhnzn3f4144 results/"), results=False)


def fetch(
    context: typer.Context,
    execution_id: Id,
    directory: Annotated[Path, typer.Argument(help="Directory to copy to; it is made if it is missing.")] = Path(),
) -> None:
    """Copy the results of an execution or an array, as named in its description, to this machine.

    Results lie in the workspace: files of the same names that another execution left are copied, too.
    """
    with options(context).following() as client:
        found = fetch_results(client, execution_id, directory, lambda path: write(f"{printable(str(path))}\n"))
    if found.code:
        raise typer.Exit(found.code)


@dataclass(slots=True)
class Fetched:
    """How many results were copied, and whether some could not be read."""

    copied: int = 0
    left_out: int = 0

    @property
    def code(self) -> int:
        """Return the exit code: 0 if there are results, and all could be read."""
        if self.left_out:
            return Exit.NOT_ALLOWED
        return 0 if self.copied else Exit.NOT_FOUND


def fetch_results(client: Client, unit_id: str, directory: Path, tell: Callable[[Path], None]) -> Fetched:
    """Copy the results of an execution, or of all executions of an array, and tell the path of each."""
    copier, fetched, seen = Copier(client.files, recursive=True), Fetched(), set[str]()
    declared = False
    for execution_id in _executions_of(client, unit_id):
        found = client.results(execution_id)
        declared = declared or bool(found.files or found.unmatched)
        for file in found.files:
            if file.path in seen:
                continue
            seen.add(file.path)
            target = directory.joinpath(*map(os.fsdecode, path_parts(file.path)))
            target.parent.mkdir(parents=True, exist_ok=True)
            if copier.fetch(FilePlace(WorkspaceKind.WORKSPACE, file.path), target):
                fetched.copied += 1
                tell(target)
        for pattern in found.unmatched:
            note(f"no file matches {pattern}")
        if not found.complete:
            note("there are more results; copy them with `zoe cp -r`")
    if not seen:
        note("there are no results" if declared else "its description declares no results")
        copy = "`zoe cp :PATH .` copies a file of the workspace"
        note(f"hint: {copy}" if declared else f"hint: {copy}; next time, name them with --result PATH")
    fetched.left_out = copier.left_out
    return fetched


def _executions_of(client: Client, unit_id: str) -> list[str]:
    """Return the id of an execution, or those of an array that have begun."""
    if not is_array(unit_id):
        return [unit_id]
    indices = client.arrays.indices(unit_id, tuple(IndexState))
    return [index.execution_id for index in indices if index.execution_id is not None]
