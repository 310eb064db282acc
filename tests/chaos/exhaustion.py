"""Exhaustion of shared resources: descriptors of a process, connections of the database."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

import psycopg2

from tests.support.postgres import connect


def lower_descriptors(pid: int, spare: int) -> bool:
    """Let a process open only so many more files; False if it has ended."""
    with suppress(OSError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        highest = max(int(path.name) for path in Path(f"/proc/{pid}/fd").iterdir())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(highest + 1 + spare, hard), hard))
        return True
    return False


def restore_descriptors(pid: int) -> None:
    """Let it open as many as it may."""
    with suppress(OSError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(soft, hard), hard))


class ForeignConnections:
    """Takes every connection of the database that is free."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connections: list[psycopg2.extensions.connection] = []

    def take(self) -> bool:
        """Take all free ones; False if there were none."""
        with suppress(psycopg2.OperationalError):
            while True:
                self._connections.append(connect(self._url))
        return bool(self._connections)

    def give_back(self) -> None:
        """Close all of them."""
        while self._connections:
            with suppress(psycopg2.Error):
                self._connections.pop().close()
