"""The controller's last list of executions that may use the store, in a file that all workers of a proxy read.

The worker with the connection to the controller writes the file. It outlives restarts of the proxy, so an ended
execution stays locked out while the controller is away. A proxy without a file accepts every valid key. A list also
applies only to credentials that are older than itself: the controller made a newer credential after the list, and its
program may start before the next list arrives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from storage_filters.execution_auth.names import ExecutionUser


@dataclass(frozen=True, slots=True)
class AliveExecutions:
    """Generation of each execution's credential, by account and execution.

    newest: the generation of the last credential when the list was made; the list has all earlier ones that have not
    ended.
    """

    newest: int
    accounts: Mapping[str, Mapping[str, int]]


_NOBODY = AliveExecutions(2**63, {})


def alive_file(rates_file: str) -> Path:
    """Return the path of the file, beside the one of the rates."""
    return Path(rates_file).with_suffix(".executions")


def read_alive(told: Any) -> AliveExecutions:
    """Return the list in a JSON document. Raises ValueError for an invalid one."""
    try:
        return AliveExecutions(
            int(told["newest"]),
            {
                str(account): {str(entry): int(generation) for entry, generation in executions.items()}
                for account, executions in told["accounts"].items()
            },
        )
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"this is no list of running executions, with their accounts and generations: {error!r}"
        ) from None


class AliveFile:
    """The file, for its writer and for readers. warn: is called once for each invalid file."""

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda _: None) -> None:
        self._path = path
        self._warn = warn
        self._version: tuple[int, int] | None = None
        self._alive: AliveExecutions | None = None

    def write(self, alive: AliveExecutions) -> None:
        """Replace the list, unless it is the same."""
        if alive == self.read():
            return
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(asdict(alive)))
        beside.replace(self._path)

    def read(self) -> AliveExecutions | None:
        """Return the list; None if none was ever written."""
        try:
            status = self._path.stat()
            version = status.st_mtime_ns, status.st_ino
            if version != self._version:
                self._version, self._alive = version, _NOBODY
                self._alive = read_alive(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            self._alive = self._version = None
        except (ValueError, RecursionError) as error:  # damaged: refuse until the controller sends a new list
            self._warn(f"{self._path} is damaged, so all executions are refused: {error}")
        return self._alive

    def is_allowed(self, account: str, user: ExecutionUser) -> bool:
        """Return whether this credential, with a valid key or token, may be used now."""
        alive = self.read()
        if alive is None or user.generation > alive.newest:
            return True
        return alive.accounts.get(account, {}).get(user.execution) == user.generation
