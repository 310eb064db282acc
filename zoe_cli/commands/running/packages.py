"""Python packages of a command, from options and from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from zoe_cli.text import printable

_BYTES_MAX = 1 << 20


def packages_of(packages: Sequence[str] | None, file: Path | None) -> tuple[str, ...]:
    """Return the lines for `requirements`; the server checks the package names. A usage error explains why the file
    cannot be read.
    """
    return (*(packages or ()), *(_lines(file) if file is not None else ()))


def _lines(file: Path) -> Iterator[str]:
    """Yield the lines without comments, in pip's syntax."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_BYTES_MAX + 1).decode("utf-8-sig")
    except OSError as error:
        raise typer.BadParameter(f"cannot read {printable(str(file))}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{printable(str(file))} is not UTF-8 text") from None
    if len(text) > _BYTES_MAX:
        raise typer.BadParameter(f"{printable(str(file))} has more than 1 MiB, so it is not a list of packages")
    for line in text.splitlines():
        wanted = "" if line.lstrip().startswith("#") else line.partition(" #")[0].strip()
        if wanted:
            yield wanted
