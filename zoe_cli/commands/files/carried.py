"""Embed small local files in a description."""

from __future__ import annotations

import itertools
import re
from pathlib import Path, PurePosixPath

import typer

from zoe_cli.output import note
from zoe_cli.text import printable
from zoe_cli.units import size
from zoe_client.documents.additions import literal

BYTES_MAX = 256 * 2**10
"""Limit of the description format."""
COUNT_MAX = 64
_DEPTH_MAX, _PART_MAX, _SUFFIX_MAX = 8, 100, 20


class CarriedFiles:
    """The embedded files of one component, by their names below `{files}`: relative paths, or base names of files
    elsewhere.

    `template`: the only template that command words may contain, such as `{index}` of an array.
    """

    def __init__(self, template: str | None = None) -> None:
        self._template = template
        self.texts: dict[str, str] = {}
        self._paths: dict[str, Path] = {}
        self._free = BYTES_MAX

    def add(self, path: Path) -> str:
        """Add a file, and return its path in the service for use in a command; a usage error explains why it cannot be
        embedded.
        """
        refused = self._take(path)
        if refused is not None:
            raise typer.BadParameter(f"{printable(str(path))} {refused}")
        return f"{{files}}/{self._name_of(path)}"

    def word(self, word: str) -> str:
        """Return a command word for the description: a local file is replaced by its path in the service."""
        path = Path(word)
        if not _is_file(path):
            return literal(word, self._template)
        refused = self._take(path)
        if refused is None:
            return f"{{files}}/{self._name_of(path)}"
        note(f"note: {printable(word)} {refused}")
        return literal(word, self._template)

    def _take(self, path: Path) -> str | None:
        """Add the file, or return why it cannot be embedded."""
        name = self._name_of(path)
        if name in self.texts:
            return None
        try:
            with path.open("rb") as stream:
                data = stream.read(self._free + 1)
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        text = data.decode("utf-8", errors="surrogateescape")
        refused = self._refusal(data, text)
        if refused is not None:
            return f"does not travel along: {refused}; {_instead(path)}"
        self.texts[name] = text
        self._free -= len(data)
        return None

    def _name_of(self, path: Path) -> str:
        """Return the name of a file, with a number if it is taken: different names may become one."""
        name, found = _name(path), path.resolve()
        if any(above in self._paths for above in _above(name)):  # another file's directory has this name
            name = name.rpartition("/")[2]
        names = itertools.chain((name,), (_with_number(name, number) for number in itertools.count(2)))
        return next(name for name in names if self._may_have(name, found))

    def _may_have(self, name: str, found: Path) -> bool:
        """Reserve the name for a file and return True, unless another file or directory has it."""
        if any(name in _above(other) for other in self._paths):
            return False
        return self._paths.setdefault(name, found) == found

    def _refusal(self, data: bytes, text: str) -> str | None:
        if len(self.texts) == COUNT_MAX:
            return f"{COUNT_MAX} files do already"
        if len(data) > self._free:
            return f"all files together may have {size(BYTES_MAX)}"
        if "\0" in text or any("\udc80" <= character <= "\udcff" for character in text):
            return "it is not UTF-8 text"
        return None


def _instead(path: Path) -> str:
    return f"`zoe cp {printable(str(path))} :` puts it into the workspace, where the command runs"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _name(path: Path) -> str:
    """Return the path relative to this directory, or the base name; `_` replaces blanks and other characters that
    descriptions forbid.
    """
    inside = not path.is_absolute() and ".." not in path.parts and len(path.parts) <= _DEPTH_MAX
    return "/".join(_legal(part) for part in (path.parts if inside else (path.name,)))


def _above(name: str) -> set[str]:
    return {str(parent) for parent in PurePosixPath(name).parents}


def _with_number(name: str, number: int) -> str:
    directory, slash, last = name.rpartition("/")
    stem, end = last, f"-{number}"
    if (suffix := PurePosixPath(last).suffix) and len(suffix) < _SUFFIX_MAX:
        stem, end = last.removesuffix(suffix), end + suffix
    return f"{directory}{slash}{stem[: _PART_MAX - len(end)]}{end}"


def _legal(part: str) -> str:
    legal = re.sub(r"[^A-Za-z0-9._@-]", "_", part)
    return (legal if legal[0].isalnum() else f"_{legal.lstrip('_')}")[:_PART_MAX]
