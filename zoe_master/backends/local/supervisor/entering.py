"""Become a process of a running service: `main()` with the service's directory, the user's TERM and the command."""

from __future__ import annotations

import os
import shlex
import sys

from . import component, files
from .cgroup import Cgroup

NOT_FOUND, CANNOT_RUN = 127, 126
FOR_SHELLS = ".zoe-environment"
"""Lines `export NAME=VALUE` and `cd DIRECTORY`, in the component's TMPDIR; the programs of batch jobs write them."""


def main() -> None:
    """Run a command in the component's context: its user, control group, limits, environment and directory."""
    directory, term, *command = sys.argv[1:]
    spec = files.read_start(directory)
    if spec is None:
        _fail("the service has ended")
        return
    status = files.read_json(f"{directory}/{files.STATUS}") or {}
    try:
        component.enter(spec, Cgroup.from_document(status.get("cgroup")), os.getppid())
        environment = {**spec["environment"], **component.secret_variables(spec)}
        _read_own(environment)
        if term:
            environment["TERM"] = term
        component.execute(command, environment)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        _fail(f"cannot run {command[0]!r}: {error.strerror}", NOT_FOUND if missing else CANNOT_RUN)


def _read_own(environment: dict[str, str]) -> None:
    """Take over the variables and the directory that the component's program has set for shells, if it has."""
    place = f"{environment.get('TMPDIR', '')}/{FOR_SHELLS}"
    try:
        with open(place, encoding="utf-8", errors="surrogateescape") as file:
            words = shlex.split(file.read())
        for command, word in zip(words[::2], words[1::2], strict=False):
            if command == "cd":
                os.chdir(word)
            else:
                name, _, text = word.partition("=")
                environment[name] = text
    except (OSError, ValueError):
        return


def _fail(message: str, code: int = CANNOT_RUN) -> None:
    os.write(2, f"zoe: {message}\n".encode())
    os._exit(code)
