"""Which executions may use the store: what the controller said last, in a file that all workers of a proxy read.

The worker that is connected to the controller writes it. It outlives restarts of the proxy, so an ended execution stays
out while the controller is away. A proxy that has never heard anything has no such file, and believes what a key
proves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from storage_filters.execution_names import ExecutionUser

AliveExecutions = Mapping[str, Mapping[str, int]]
"""The generation of each execution's credential, by account and execution."""


def alive_file(rates_file: str) -> Path:
    """Return the place of the file, beside that of the rates."""
    return Path(rates_file).with_suffix(".executions")


class AliveFile:
    """The file, for its writer and for readers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._alive: AliveExecutions | None = None

    def write(self, alive: AliveExecutions) -> None:
        """Replace the list; ValueError for one that makes no sense. Does nothing if it says this already."""
        checked = {
            str(account): {str(one): int(generation) for one, generation in executions.items()}
            for account, executions in alive.items()
        }
        if checked == self.read():
            return
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(checked))
        beside.replace(self._path)

    def read(self) -> AliveExecutions | None:
        """Return the list; None if none was ever written."""
        try:
            status = self._path.stat()
            version = status.st_mtime_ns, status.st_ino
            if version != self._version:
                self._version = version
                self._alive = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            self._alive = self._version = None
        except ValueError:  # damaged: until the controller says it again, refuse
            self._alive = {}
        return self._alive

    def allows(self, account: str, user: ExecutionUser) -> bool:
        """Return whether this credential may be used now."""
        alive = self.read()
        return alive is None or alive.get(account, {}).get(user.execution) == user.generation
