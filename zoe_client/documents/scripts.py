"""Descriptions of scripts and commands that run in the workspace: for `zoe run`, and for the form of the web UI."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

MEMORY, CORES = "1GiB", 1.0
INDEX = "{index}"
WORKSPACE = "{workspace}"
INSTANCE_VARIABLE = "ZOE_INDEX"
_NOTEBOOK = ".ipynb"
# By python3, whose kernel then finds the packages that were installed first.
_NBCONVERT = ("python3", "-m", "nbconvert", "--to", "notebook", "--execute")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The image of a kind of script, and the words before its path."""

    image: str
    words: tuple[str, ...]


INTERPRETERS: Mapping[str, Interpreter] = {
    ".py": Interpreter("zoe/python", ("python3", "-u")),
    ".sh": Interpreter("zoe/tiny", ("sh",)),
    ".R": Interpreter("zoe/r", ("Rscript",)),
    _NOTEBOOK: Interpreter("zoe/notebook", _NBCONVERT),
}
"""By the suffix of the script."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and what its component gets. memory: such as `1GiB`, or bytes; count: number of instances."""

    image: str
    words: Sequence[str]
    memory: str | int = MEMORY
    cores: float = CORES
    count: int = 1
    packages: Sequence[str] = ()
    sources: Sequence[Mapping[str, str]] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Sequence[str] = ()
    array: bool = False
    """Whether `{index}` in words is the array index."""


def command_component(command: Command) -> dict[str, Any]:
    """Return the component of a description that runs a command in the workspace."""
    component: dict[str, Any] = {
        "name": "main",
        "image": command.image,
        "command": list(command.words),
        "work_dir": WORKSPACE,
        "environment": {"HOME": WORKSPACE, **command.variables},
        "resources": {"memory": command.memory, "cores": command.cores},
    }
    if tuple(command.words[: len(_NBCONVERT)]) == _NBCONVERT:
        # As in JupyterLab: a cell with `zoe_client.Client()` works in both.
        component["api"] = "offered"
    if command.packages:
        component["requirements"] = list(command.packages)
    if command.sources:
        component["sources"] = [dict(source) for source in command.sources]
    if command.secrets:
        component["secrets"] = [{"name": name} for name in command.secrets]
    if command.count == 1:
        return component | {"ends_application": True}
    component["environment"][INSTANCE_VARIABLE] = "{instance}" if command.array else INDEX
    return component | {"essential_count": command.count, "total_count": command.count}


def script_words(suffix: str, path: str, arguments: Sequence[str], array: bool = False) -> list[str]:
    """Return the words that run the script at a path of the service. A notebook is written again with its output:
    `NAME-run.ipynb`.
    """
    words = [*INTERPRETERS[suffix].words]
    if suffix == _NOTEBOOK:
        place, _, name = _output_of(path, array).rpartition("/")
        words += ["--output-dir", place, "--output", name]
    return [*words, path, *arguments]


def script_results(suffix: str, path: str, array: bool = False) -> list[str]:
    """Return the files that a script certainly leaves in the workspace, as `results` of a description names them: none
    for names with characters of patterns.
    """
    if suffix != _NOTEBOOK or re.search(r"[][*?]", path):
        return []
    return [_output_of(path, array).removeprefix(f"{WORKSPACE}/")]


def _output_of(path: str, array: bool) -> str:
    """Return where a notebook with its output is written: beside a notebook of the workspace, else at its top."""
    place = PurePosixPath(path)
    directory = place.parent if place.parts[0] == WORKSPACE else PurePosixPath(WORKSPACE)
    return str(directory / f"{place.stem}-run{'-' + INDEX if array else ''}{place.suffix}")


def title_of(name: str) -> str:
    """Return an application's name for the name of a file or program: its stem, in characters that may be there."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", PurePosixPath(name).stem)[:128].strip("-._") or "command"
