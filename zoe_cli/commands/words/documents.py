"""Read descriptions from files, and report their errors."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, note, report_diagnostics
from zoe_cli.text import printable
from zoe_client.documents.bounds import DOCUMENT_BYTES_MAX
from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, pointer
from zoe_client.documents.load import load_json
from zoe_client.documents.scripts import INTERPRETERS

_DATA = (".csv", ".tsv", ".parquet", ".ipynb", ".txt")
"""Suffixes of files that a program reads, and that describe no application."""
File = Annotated[Path, typer.Argument(metavar="FILE", help="Description in JSON; - reads standard input.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="COMPONENT.KEY=VALUE", help="Change the description before use; may be repeated."),
]


def load(file: Path) -> Any:
    """Return the JSON in a file; exit with the findings if it is invalid."""
    text = read_text(file)
    try:
        return load_json(text)
    except DescriptionError as error:
        if not text.strip():
            raise typer.BadParameter(f"{_name(file)} is empty") from None
        if text.startswith("#!"):
            script = f"`zoe sbatch {_name(file)}` submits it, `zoe sbatch --show {_name(file)}` prints its description"
            raise typer.BadParameter(f"{_name(file)} is a script: {script}") from None
        if file.suffix in INTERPRETERS:
            ways = f"`zoe run {_name(file)}` runs it, `zoe run --show {_name(file)} > app.json` writes its description"
            raise typer.BadParameter(f"{_name(file)} is a script: {ways}") from None
        if file.suffix.lower() in _DATA:
            raise typer.BadParameter(
                f"{_name(file)} is not a description in JSON, nor a script (.py, .sh); `zoe run PROGRAM.py -- "
                f"{_name(file)}` runs a program on a file"
            ) from None
        if file.suffix.lower() in (".yaml", ".yml"):
            note(f"hint: descriptions are JSON; {_as_workflow(file)}")
        refuse(error)


def load_description(file: Path) -> dict[str, Any]:
    """Return the description in a file; exit with the findings if it is invalid."""
    document = load(file)
    if not isinstance(document, dict):
        raise typer.BadParameter(f"{_name(file)} does not contain a JSON object")
    if isinstance(document.get("steps"), list) and "components" not in document:
        raise typer.BadParameter(f"{_name(file)} has steps; {_as_workflow(file)}")
    return document


def set_in(document: dict[str, Any], settings: Sequence[str] | None) -> dict[str, Any]:
    """Return a description after `--set`; exit with the findings if it is invalid."""
    changed = document
    if settings:
        from zoe_client.documents.settings import set_values

        try:
            changed = set_values(document, settings)
        except DescriptionError as error:
            refuse(error)
    if endless := [Diagnostic(place, Code.OUT_OF_RANGE, "not a finite number") for place in _endless(changed)]:
        refuse(DescriptionError(endless))
    return changed


def _endless(document: dict[str, Any]) -> Iterator[str]:
    """Yield the paths of infinite numbers such as 1e400, which JSON cannot carry."""
    found: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while found:
        path, one = found.pop()
        if isinstance(one, float) and not math.isfinite(one):
            yield pointer(*path)
        parts = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        found += [((*path, key), part) for key, part in parts]


def refuse(error: DescriptionError) -> NoReturn:
    """Report every finding, and exit."""
    note("zoe: the description is not valid")
    report_diagnostics(error.diagnostics)
    raise typer.Exit(Exit.USAGE)


def data_format(context: typer.Context) -> Format:
    """Return the format of documents: JSON unless YAML is requested."""
    return Format.YAML if options(context).output is Format.YAML else Format.JSON


def read_text(file: Path) -> str:
    """Return the text, or a prefix just long enough to show that it is too long."""
    try:
        if str(file) == "-":
            return sys.stdin.buffer.read(DOCUMENT_BYTES_MAX + 1).decode("utf-8")
        with file.open("rb") as stream:
            return stream.read(DOCUMENT_BYTES_MAX + 1).decode("utf-8")
    except OSError as error:
        raise typer.BadParameter(f"cannot read {_name(file)}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        if error.end >= DOCUMENT_BYTES_MAX:  # a character cut at the limit
            return " " * (DOCUMENT_BYTES_MAX + 1)
        raise typer.BadParameter(f"{_name(file)} is not UTF-8 text") from None


def _as_workflow(file: Path) -> str:
    return f"a workflow runs with `zoe workflow run {_name(file)}`, which takes --finish-by, too"


def _name(file: Path) -> str:
    return "standard input" if str(file) == "-" else printable(str(file))
