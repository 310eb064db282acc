"""ls PLACE: list files of a workspace, or of the object store."""

from __future__ import annotations

from itertools import islice

import typer

from zoe_cli.commands.words.file_places import FORMS, read_place
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.rows import Rows
from zoe_cli.units import clock, size


def list_files(context: typer.Context, text: str, limit: int | None) -> None:
    """List the files in a directory, up to `limit`, or a single file."""
    place = read_place(text)
    if place is None:
        raise typer.BadParameter(f"{text!r} is not {FORMS}")
    with options(context).client() as client:
        entry = client.files.find(place.path, place.root)
        directory = entry.kind == "directory"
        found = client.files.list(place.path, place.root) if directory else iter([entry])
        entries = list(found if limit is None else islice(found, limit))
        if limit is not None and next(found, None) is not None:
            note(f"there are more files: give a larger number than -n {limit}, or none")
    rows = [
        (
            entry.name + ("/" if entry.kind == "directory" else ""),
            _size(entry.kind, entry.size_bytes),
            clock(entry.modified_at_s) if entry.modified_at_s else "",
        )
        for entry in entries
    ]
    emit(
        {"files": [entry.model_dump() for entry in entries]},
        options(context).output,
        Rows(("name", "size", "changed"), rows),
    )


def _size(kind: str, size_bytes: int) -> str:
    return {"file": size(size_bytes), "directory": "", "other": "not a file"}[kind]
