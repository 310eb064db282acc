"""Become a process of a running service: `main()` with the service's directory, the user's TERM and the command."""

from __future__ import annotations

import os
import sys

from . import component, files
from .cgroup import Cgroup

NOT_FOUND, CANNOT_RUN = 127, 126


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
        environment = dict(spec["environment"])
        if term:
            environment["TERM"] = term
        component.execute(command, environment)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        _fail(f"cannot run {command[0]!r}: {error.strerror}", NOT_FOUND if missing else CANNOT_RUN)


def _fail(message: str, code: int = CANNOT_RUN) -> None:
    os.write(2, f"zoe: {message}\n".encode())
    os._exit(code)
