"""run, validate, convert, catalogue: from a description to an execution."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from zoe_cli.commands.executions import finish, rows_of, wait_for
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, Rows, emit, emit_data, note, report_diagnostics
from zoe_lib.descriptions import DescriptionError, convert, expand, load_json, parse, set_values
from zoe_lib.sdk import Unreachable
from zoe_lib.wire import Diagnostic

File = Annotated[Path, typer.Argument(help="A description in JSON; - reads standard input.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="COMPONENT.KEY=VALUE", help="Change the description before it is sent; repeatable."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run")(run)
    app.command("validate")(validate)
    app.command("convert")(convert_file)
    app.command("catalogue")(catalogue)


def run(
    context: typer.Context,
    file: File,
    name: Annotated[str | None, typer.Option(help="Name of this execution.")] = None,
    settings: Settings = None,
    priority: Annotated[int | None, typer.Option(help="Higher is looked at first.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Seconds from now until it should have ended.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it has ended.")] = False,
    timeout: Annotated[float | None, typer.Option(help="With --wait: give up after so many seconds.")] = None,
    exit_code_from_app: Annotated[
        bool, typer.Option("--exit-code-from-app", help="With --wait: end with the application's own exit code.")
    ] = False,
    key: Annotated[
        str | None, typer.Option("--idempotency-key", help="The same key never submits the same thing twice.")
    ] = None,
) -> None:
    """Submit an application."""
    document = _document(file, settings)
    with options(context).client() as client:
        execution = client.submit(document, name=name, priority=priority, deadline_s=deadline, idempotency_key=key)
        for text in execution.notes:
            note(f"note: {text}")
        if wait:
            note(f"{execution.name} is {execution.id}")
            execution = wait_for(client, execution.id, timeout)
    emit(execution, options(context).output, rows_of([execution]))
    if wait:
        finish(execution, exit_code_from_app)


def validate(
    context: typer.Context,
    file: File,
    settings: Settings = None,
    expanded: Annotated[bool, typer.Option("--expand", help="Print it with its frameworks expanded.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Check the format only; ask no server.")] = False,
) -> None:
    """Check a description: all errors at once, and whether it can ever run on this installation."""
    document = _document(file, settings)
    try:
        parse(document)
        if expanded:
            emit_data(expand(document), _data_format(context))
    except DescriptionError as error:
        _refuse(error)
    if not offline:
        _validate_here(context, document)
    note("valid")


def convert_file(
    context: typer.Context, file: Annotated[Path, typer.Argument(help="A description of format version 0 to 4.")]
) -> None:
    """Convert a description of the original Zoe; version-4 JSON on standard output, notes on standard error."""
    try:
        conversion = convert(load_json(_read(file)))
    except DescriptionError as error:
        _refuse(error)
    for one in conversion.notes:
        note(f"note: {one}")
    emit_data(conversion.document, _data_format(context))


def catalogue(
    context: typer.Context,
    entry: Annotated[str | None, typer.Argument(help="Print the description of this entry.")] = None,
) -> None:
    """List the catalogue, or print the description of one entry."""
    with options(context).client() as client:
        answer = client.catalogue()
    if entry is None:
        rows = [(e.id, e.category, e.title) for e in answer.entries]
        emit(answer, options(context).output, Rows(("id", "category", "title"), rows))
        return
    found = next((e for e in answer.entries if e.id == entry), None)
    if found is None:
        note(f"zoe: the catalogue has no entry {entry}")
        raise typer.Exit(Exit.NOT_FOUND)
    emit_data(found.document, _data_format(context))


def _document(file: Path, settings: list[str] | None) -> dict[str, Any]:
    try:
        document = load_json(_read(file))
        if not isinstance(document, dict):
            raise typer.BadParameter(f"{file} does not hold a JSON object")
        return set_values(document, settings) if settings else document
    except DescriptionError as error:
        _refuse(error)


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except OSError as error:
        raise typer.BadParameter(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{file} is not UTF-8 text") from None


def _validate_here(context: typer.Context, document: dict[str, Any]) -> None:
    try:
        with options(context).client() as client:
            for text in client.validate(document).notes:
                note(f"note: {text}")
    except (Unreachable, typer.BadParameter) as error:
        note(f"note: {error}; checked by the format only")


def _refuse(error: DescriptionError) -> NoReturn:
    note("zoe: the description is not valid")
    report_diagnostics(
        [Diagnostic(pointer=d.pointer, code=d.code, message=d.message, hint=d.hint) for d in error.diagnostics]
    )
    raise typer.Exit(Exit.USAGE)


def _data_format(context: typer.Context) -> Format:
    return Format.YAML if options(context).output is Format.YAML else Format.JSON
