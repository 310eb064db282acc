"""Calls in files of the workspace that a script reads by `source` or `.`, as far as their paths are literal.

As in the script itself, a doubtful place is ignored: a path with variables, one after a `cd` to another directory, a
file that does not exist yet. At run time such a call fails the job.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from zoe_job.submission.script_calls import BEGINNING, api_calls, commands, refused_calls, without_texts, words_of
from zoe_job.submission.script_lines import ScriptLines

FILES_MAX = 20
DEPTH_MAX = 5
BYTES_MAX = 200_000
"""Longest file; longer ones are ignored."""
Reader = Callable[[str], str | None]
"""Returns the text of a file by its path below the workspace; None if it is not available."""

_COMMAND = re.compile(rf"{BEGINNING}(?P<name>source|\.|cd|pushd|popd)(?:\s|(?=;)|$)")
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\}|\$SLURM_SUBMIT_DIR|\$\{SLURM_SUBMIT_DIR\})(?:/|$)")
_NOT_LITERAL = re.compile(r"[$`*?\[{~]")


def add_calls(lines: ScriptLines, script: str, directory: str | None, read: Reader) -> None:
    """Add the calls of sourced files to those of the script; `directory`: its initial one, None: the workspace."""
    for file in _files(script, directory, read):
        lines.refused += [
            (file.begun, f"{file.path}, line {n}: {text}", why) for n, text, why in refused_calls(file.text)
        ]
        lines.api_calls += [(file.begun, f"{file.path}, line {n}: {text}") for n, text in api_calls(file.text)]


@dataclass(frozen=True, slots=True)
class _File:
    """A sourced file. begun: the line of the script that reads it, if through others."""

    begun: int
    path: str
    text: str
    depth: int


@dataclass(slots=True)
class _Walk:
    directory: str | None
    read: Reader
    seen: set[str] = field(default_factory=set)

    def sources(self, text: str, begun: int, depth: int) -> Iterator[_File]:
        for line, path in sourced_paths(text, self.directory):
            if path in self.seen or len(self.seen) >= FILES_MAX:
                continue
            self.seen.add(path)
            if (found := self.read(path)) is not None:
                yield _File(begun or line, path, found, depth)


def _files(script: str, directory: str | None, read: Reader) -> Iterator[_File]:
    walk = _Walk(directory, read)
    waiting = list(walk.sources(script, 0, 1))
    while waiting:
        file = waiting.pop(0)
        yield file
        if file.depth < DEPTH_MAX:
            waiting += walk.sources(file.text, file.begun, file.depth + 1)


def sourced_paths(script: str, directory: str | None) -> Iterator[tuple[int, str]]:
    """Yield the lines that read a file, with its path below the workspace."""
    here: str | None = directory or ""
    for number, line in commands(script):
        for found in _COMMAND.finditer(without_texts(line)):
            word = next(iter(words_of(line[found.end() :])), "")
            if found["name"] not in ("source", "."):
                here = "" if _HOME.fullmatch(word or "~") else None
            elif path := _below_workspace(word, here):
                yield number, path


def _below_workspace(word: str, here: str | None) -> str | None:
    """Return the path of a file below the workspace; None if it is elsewhere, or not literal."""
    if home := _HOME.match(word):
        word, here = word[home.end() :], ""
    if not word or here is None or posixpath.isabs(word) or _NOT_LITERAL.search(f"{here}{word}"):
        return None
    path = posixpath.normpath(posixpath.join(here, word))
    return None if path == "." or path.split("/")[0] == ".." else path
