"""A pytest plugin that records the outcome and duration of each test while it runs: one JSON object per line.

Loaded by the runner with `-p scripts.pytest_records --records FILE`. Lines of kind `fixture` and `phase` hold wall and
CPU seconds; CPU seconds of other processes count once their parent has waited for them. Those of kind `test` also
hold what the control group of the run used meanwhile (`all_cpu_s`), where there is one. The line of kind `exit` holds
those between the line of kind `end` and the end of the process, which waits for processes that forked others for tests.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest

from scripts.cpu_groups import COUNTED, used_s

OUTPUT_CHARACTERS_MAX = 4_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file."""
    parser.addoption("--records", required=True, help="write what becomes of each test to this file")


def pytest_configure(config: pytest.Config) -> None:
    """Open the file."""
    records = Records(Path(config.getoption("--records")))
    atexit.register(records.exited)  # before all that tests register, hence called after it
    config.pluginmanager.register(records, "records")


class Records:
    """Hooks around every fixture and phase of a test."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO = path.open("a", encoding="utf-8", buffering=1)
        self._told_s = (0.0, 0.0)
        self._pid = os.getpid()
        self._threads: dict[threading.Thread, str] = {}
        self._group = os.environ.get(COUNTED, "")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Time the set-up of a fixture, excluding the fixtures that it uses."""
        with self._timed(kind="fixture", name=f"{fixturedef.argname} ({fixturedef.scope})"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Time a test with its fixtures, from the first to the last moment."""
        self._write(kind="begin", name=item.nodeid)
        before, all_s = _threads(), self._all_s()
        try:
            with self._timed(kind="test", name=item.nodeid) as more:
                try:
                    return (yield)
                finally:
                    now_s = self._all_s()
                    if all_s is not None and now_s is not None:
                        more["all_cpu_s"] = now_s - all_s
        finally:
            begun = dict.fromkeys(_threads() - before, item.nodeid)
            self._threads = {thread: test for thread, test in {**self._threads, **begun}.items() if thread.is_alive()}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the outcome of a phase if it decides that of the test, and the output of failures."""
        if report.when != "call" and report.passed:
            return
        skipped = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
        output = report.longreprtext[-OUTPUT_CHARACTERS_MAX:] if report.failed else ""
        reason = skipped.removeprefix("Skipped: ")
        self._write(kind="outcome", name=report.nodeid, outcome=report.outcome, reason=reason, output=output)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write that a file could not be collected."""
        if report.failed:
            self._write(kind="outcome", name=report.nodeid, outcome="failed", reason="", output=report.longreprtext)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write how many tests there are, and how long collecting them took."""
        self._write(kind="collected", count=len(session.items), cpu_s=sum(_cpu_s()))

    def pytest_unconfigure(self) -> None:
        """Write which threads keep the process, by the test that began them, and what it used until now."""
        left = {test: thread.name for thread, test in self._threads.items() if thread.is_alive()}
        if left:
            self._write(kind="left", threads=left)
        self._write_cpu("end")

    def exited(self) -> None:
        """Write what it used since, and close the file; a fork of the process that ends does nothing."""
        if os.getpid() == self._pid:
            self._write_cpu("exit")
            self._file.close()

    def _write_cpu(self, kind: str) -> None:
        used = _cpu_s()
        own_s, children_s = (now_s - told_s for now_s, told_s in zip(used, self._told_s, strict=True))
        self._told_s = used
        self._write(kind=kind, own_cpu_s=own_s, children_cpu_s=children_s)

    @contextmanager
    def _timed(self, **fields: str) -> Iterator[dict[str, float]]:
        """Write how long the block takes, with what it adds to the yielded numbers."""
        began_s, cpu_s, more = time.monotonic(), sum(_cpu_s()), dict[str, float]()
        try:
            yield more
        finally:
            self._write(**fields, **more, seconds=time.monotonic() - began_s, cpu_s=sum(_cpu_s()) - cpu_s)

    def _all_s(self) -> float | None:
        return used_s(Path(self._group)) if self._group else None

    def _write(self, **fields: object) -> None:
        self._file.write(json.dumps(fields) + "\n")


def _threads() -> set[threading.Thread]:
    """Return the threads for which the interpreter waits at its end."""
    return {thread for thread in threading.enumerate() if not thread.daemon}


def _cpu_s() -> tuple[float, float]:
    """Return CPU seconds of this process, and of those for which it has waited."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, children = (one.ru_utime + one.ru_stime for one in used)
    return own, children
