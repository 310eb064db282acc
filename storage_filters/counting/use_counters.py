"""Requests of each execution, and the rules applied to them: counters in memory shared by all workers.

A counter belongs to a credential of an execution, like those of its bytes (`transfer_counters.py`), and to a subject:
`request/<method>/<container>`, `rule/<number>/<filter>/<get or put>`, or `limit/<get or put>` for requests that had to
wait for their turn. For `cpu/<method>/<container>`, `done` is microseconds of CPU time of filters and views. The
controller stores the counters by execution.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from storage_filters.counting.counter_table import Amounts, CounterTable
from storage_filters.counting.rate_table import Direction
from storage_filters.execution_auth.names import ExecutionUser

USE_FIELDS = ("born", "done", "refused", "read_bytes", "written_bytes")
"""Fields of each counter in a report. refused: answers of 4xx and 5xx, and connections that ended early."""
FURTHER = "*"
"""Stands for a container whose name is too long for a counter."""
_NAME_BYTES = 240
_SEPARATOR = "/"
_PARTS = 3


def uses_file(rates_file: str | Path) -> Path:
    """Return the path of the counters, beside the one of the rates."""
    return Path(rates_file).with_suffix(".uses")


def parts_of_use(name: str) -> tuple[str, int, str]:
    """Return execution, generation and subject of a counter. Raises ValueError."""
    execution, generation, subject = name.split(_SEPARATOR, _PARTS - 1)
    return execution, int(generation), subject


class UseCounters:
    """Counters of the use by executions."""

    def __init__(self, path: Path) -> None:
        self._table = CounterTable(path, len(USE_FIELDS) - 1, _NAME_BYTES)

    def close(self) -> None:
        """Close the file for this process; others continue to use it."""
        self._table.close()

    def request(
        self, user: ExecutionUser, method: str, container: str, served: bool, moved: tuple[int, int], waited: bool
    ) -> None:
        """Add a request, with the bytes that it read and wrote. waited: a limit delayed it."""
        done = served, not served, *moved
        self._add(user, self._of_container(user, "request", method, container), done)
        if waited:
            self._add(user, f"limit/{'put' if moved[1] > moved[0] else 'get'}", done)

    def add_cpu_time(self, user: ExecutionUser, method: str, container: str, cpu_us: int) -> None:
        """Add CPU time of filters and views for a request."""
        self._add(user, self._of_container(user, "cpu", method, container), (cpu_us, 0, 0, 0))

    def rules(self, user: ExecutionUser, met: Iterable[tuple[int, str]], direction: Direction) -> None:
        """Add a request for each rule and filter that applied to it."""
        for rule, kind in met:
            self._add(user, f"rule/{rule}/{kind}/{direction}", (1, 0, 0, 0))

    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of `USE_FIELDS` by names of counters."""
        return self._table.counts()

    def _of_container(self, user: ExecutionUser, kind: str, method: str, container: str) -> str:
        subject = f"{kind}/{method}/{container}"
        fits = len(self._name(user, subject).encode(errors="replace")) <= _NAME_BYTES
        return subject if fits else f"{kind}/{method}/{FURTHER}"

    def _add(self, user: ExecutionUser, subject: str, more: Amounts) -> None:
        def add(amounts: Amounts, _: float) -> Amounts:
            return [now + number for now, number in zip(amounts, more, strict=True)]

        self._table.change(self._name(user, subject), add, time.monotonic())

    @staticmethod
    def _name(user: ExecutionUser, subject: str) -> str:
        return _SEPARATOR.join((user.execution, str(user.generation), subject))
