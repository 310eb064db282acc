"""Write results to standard output as table, JSON, YAML or names; notes and problems to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from zoe_cli.aligned import plain_table
from zoe_cli.exits import Exit
from zoe_cli.rows import Rows
from zoe_cli.text import LogText, json_text, printable
from zoe_client.errors import InvalidDescription, Refused, Unreachable, ZoeError

if TYPE_CHECKING:
    from pydantic import BaseModel

_PATIENCE_HINT = "--patience 60 keeps retrying"
_UNREACHABLE_HINT = (
    f"`make serve` starts Zoe on this machine; set another server with --url or ZOE_URL; {_PATIENCE_HINT}"
)


class Format(StrEnum):
    """Output formats."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


def emit(result: BaseModel | Mapping[str, object], form: Format, rows: Rows) -> None:
    """Write a result: as JSON or YAML, or as a table or its names. An empty table gets a note."""
    if form in (Format.JSON, Format.YAML):
        emit_data(result if isinstance(result, dict) else cast("BaseModel", result).model_dump(mode="json"), form)
    elif form is Format.NAME:
        write("".join(f"{printable(str(row[0]))}\n" for row in rows.rows))
    else:
        write(table(rows))
        if rows.empty and not rows.rows:
            note(f"note: {rows.empty}")


_collected: list[Any] | None = None


@contextmanager
def collecting(found: list[Any]) -> Iterator[None]:
    """Add data to a list instead of writing it."""
    global _collected  # noqa: PLW0603 - a command line has one output
    _collected = found
    try:
        yield
    finally:
        _collected = None


def emit_data(data: Any, form: Format = Format.JSON) -> None:
    """Write plain data as JSON or YAML."""
    if _collected is not None:
        _collected.append(data)
        return
    write(_yaml(data) if form is Format.YAML else json_text(data) + "\n")


def _yaml(data: Any) -> str:
    from zoe_cli.yaml_text import yaml_text

    return yaml_text(data)


def write(text: str) -> None:
    """Write to standard output without delay; exit when its reader has gone."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        end_for_output(error)


def end_for_output(error: OSError) -> NoReturn:
    """Exit because standard output cannot be written: its reader has gone, or its disk is full."""
    # The interpreter flushes once more at exit, which must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        raise SystemExit(Exit.BROKEN_PIPE)
    note(f"zoe: cannot write the output: {error.strerror}")
    raise SystemExit(Exit.USAGE)


def end_for_file(error: OSError) -> NoReturn:
    """Exit because a file of this machine cannot be read or written, or the reader of a pipe has gone."""
    if isinstance(error, BrokenPipeError):
        raise SystemExit(Exit.BROKEN_PIPE)
    where = f"{error.filename}: " if error.filename is not None else ""
    note(f"zoe: {where}{error.strerror or error}")
    raise SystemExit(Exit.USAGE)


def note(text: str) -> None:
    """Write a line for people to standard error."""
    # Where standard error is closed or full, the exit code still tells.
    with suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)


def report(error: ZoeError) -> None:
    """Report a problem with all its diagnostics and the hint."""
    text = str(error).splitlines()[0] if isinstance(error, InvalidDescription) else str(error)
    if isinstance(error, Refused):
        said, found = error.problem.detail, error.problem.errors
        whole = [entry for entry in found if entry.message == said]
        # An error that is the whole detail is said once, with its option.
        option = next((entry.pointer for entry in whole if entry.pointer.startswith("--")), "")
        note(f"zoe: {text.replace(said, f'{option}: {said}', 1) if option else text}")
        report_diagnostics([entry for entry in found if entry.message != said])
        for hint in filter(None, dict.fromkeys([error.problem.hint, *(entry.hint for entry in whole)])):
            note(f"hint: {hint}")
    else:
        note(f"zoe: {text}")
    if isinstance(error, Unreachable):
        note(f"hint: {_PATIENCE_HINT if error.answered else _UNREACHABLE_HINT}")


class Finding(Protocol):
    """One error of a document, found here or by the server."""

    @property
    def pointer(self) -> str: ...  # noqa: D102
    @property
    def message(self) -> str: ...  # noqa: D102
    @property
    def hint(self) -> str: ...  # noqa: D102


def report_diagnostics(diagnostics: Sequence[Finding]) -> None:
    """Write one line for each finding: place, message, hint."""
    for diagnostic in diagnostics:
        where = f"{diagnostic.pointer}: " if diagnostic.pointer else ""
        note(f"  {where}{diagnostic.message}" + (f" ({diagnostic.hint})" if diagnostic.hint else ""))


def table(rows: Rows) -> str:
    """Return rows as aligned columns. On a terminal, fold sentences and shorten names so that lines fit."""
    plain = None if _uses_styles() else plain_table(rows)
    if plain is not None:
        return plain
    from zoe_cli.tables import draw_table

    return draw_table(rows)


def _uses_styles() -> bool:
    """Return whether Rich would fold, shorten or colour for a terminal."""
    return sys.stdout.isatty() or any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def show_output(pieces: Iterator[bytes]) -> None:
    """Write pieces of a program's output: to a terminal as harmless text, else every byte unchanged."""
    if not sys.stdout.isatty():
        for piece in pieces:
            _write_bytes(piece)
        return
    text = LogText()
    try:
        for piece in pieces:
            write(text.feed(piece))
    finally:
        write(text.close())


def _write_bytes(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        end_for_output(error)
