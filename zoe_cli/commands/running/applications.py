"""validate, convert, catalogue: check and convert descriptions, and list the catalogue."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated, Any

import typer

from zoe_cli.commands.words.documents import File, Settings, data_format, load, load_description, refuse, set_in
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit, emit_data, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.documents.diagnostics import DescriptionError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "validate", validate, ("zoe validate app.json", "zoe validate app.json --offline --expand"))
    add(app, "convert", convert_file, ("zoe convert old.json > new.json",))
    add(app, "catalogue", catalogue, ("zoe catalogue", "zoe catalogue batch > batch.json"))


def validate(
    context: typer.Context,
    file: File,
    settings: Settings = None,
    expanded: Annotated[
        bool, typer.Option("--expand", help="Print the description with its frameworks expanded.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Check the format only, without a server.")] = False,
) -> None:
    """Check a description: show all errors at once, and whether it can ever run on this installation."""
    document = set_in(load_description(file), settings)
    descriptions = _descriptions()
    if descriptions is None and (offline or expanded):
        raise typer.BadParameter("--offline and --expand need the package zoe-analytics on this machine")
    whole = _parse_and_expand(descriptions, document) if descriptions else document
    notes = [] if offline else _ask_server(context, document)
    for text in notes:
        note(f"note: {text}")
    if expanded:
        emit_data(whole, data_format(context))
    elif options(context).output in (Format.JSON, Format.YAML):
        emit_data({"valid": True, "notes": notes}, options(context).output)
    note("valid")


def convert_file(context: typer.Context, file: File) -> None:
    """Convert a description of the original Zoe, formats 0 to 3, to version 4.

    Writes the result to standard output, and notes on lost settings to standard error.
    """
    document = load(file)
    descriptions = _descriptions()
    if descriptions:
        try:
            conversion = descriptions.convert(document)
        except DescriptionError as error:
            refuse(error)
        notes, converted = [str(note) for note in conversion.notes], conversion.document
    else:
        with options(context).client() as client:
            answer = client.convert(document)
        notes, converted = answer.notes, answer.document
    if converted == document:
        note("note: it has the newest format already; it is printed as it is")
    for text in notes:
        note(f"note: {text}")
    emit_data(converted, data_format(context))


def catalogue(
    context: typer.Context,
    entry: Annotated[str | None, typer.Argument(metavar="ENTRY", help="Print the description of this entry.")] = None,
) -> None:
    """List the catalogue, or print the description of one entry."""
    with options(context).client() as client:
        answer = client.catalogue()
    if entry is None:
        rows = [(e.id, e.category, e.title, e.summary, e.remedy or "") for e in answer.entries]
        emit(answer, options(context).output, Rows(("id", "category", "title", "summary", "missing here"), rows))
        return
    chosen = next((e for e in answer.entries if e.id == entry), None)
    if chosen is None:
        note(f"zoe: the catalogue has no entry {entry}; `zoe catalogue` lists them")
        raise typer.Exit(Exit.NOT_FOUND)
    emit_data(chosen.document, data_format(context))


def _descriptions() -> ModuleType | None:
    """Return the server's package for descriptions; None if only the client is installed."""
    try:
        from zoe_lib import descriptions
    except ModuleNotFoundError as missing:
        if missing.name and missing.name.partition(".")[0] == "zoe_lib":
            return None
        raise
    return descriptions


def _parse_and_expand(descriptions: ModuleType, document: dict[str, Any]) -> Any:
    """Return the description with its frameworks expanded; exit with the findings if it is invalid."""
    try:
        descriptions.parse(document)
        return descriptions.expand(document)
    except DescriptionError as error:
        refuse(error)


def _ask_server(context: typer.Context, document: dict[str, Any]) -> list[str]:
    with options(context).client() as client:
        return client.validate(document).notes
