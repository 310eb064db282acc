"""A pytest plugin that selects the tests of a tier, and records the outcome and the cost of each test as it runs.

Loaded by the runner with `-p scripts.testing.plugin --records FILE [--tier 1|2] [--until EPOCH]`; the file holds one
JSON object per line. CPU seconds are those of the run's control group, which counts daemons and containers; without
one, those of this process and of the children for which it has waited. ZOE_RANDOM_ORDER=SEED runs modules, and the
tests of each module, in the order of that seed.
"""

from __future__ import annotations

import ctypes
import faulthandler
import hashlib
import json
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.testing.costs import INTERRUPTED, Costs
from scripts.testing.cpu_groups import COUNTED, used_s

ORDER = "ZOE_RANDOM_ORDER"
OUTPUT_CHARACTERS_MAX = 4_000
EXIT_S = float(os.environ.get("ZOE_TEST_EXIT_S", "120"))
"""How long the process may take to exit after its last test: a thread that a test left would keep it for ever."""
_CALIBRATE_EACH_S = 20.0
_PR_SET_PDEATHSIG = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the runner's options."""
    parser.addoption("--records", required=True, help="write the outcome and cost of each test to this file")
    parser.addoption("--tier", type=int, default=0, help="run only the tests of this tier")
    parser.addoption("--until", type=float, default=0.0, help="begin no test after this time (seconds since 1970)")


def pytest_configure(config: pytest.Config) -> None:
    """Open the file, and end with the runner, as by Ctrl-C, so that tests clean up."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT))
    config.pluginmanager.register(Records(Path(config.getoption("--records"))), "records")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the tier, in random order if one is given."""
    if tier := config.getoption("--tier"):
        costs = Costs.read()
        other = [item for item in items if costs.tier(item.nodeid) != tier]
        config.hook.pytest_deselected(items=other)
        items[:] = [item for item in items if costs.tier(item.nodeid) == tier]
    if seed := os.environ.get(ORDER):
        items.sort(key=lambda item: _order(seed, item))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Pass a test over, as if it were not there, once the time of this run is over."""
    return is_over(item.config) or None


def is_over(config: pytest.Config) -> bool:
    """Return whether no test may begin any more."""
    until = config.getoption("--until")
    return (bool(until) and time.time() > until) or Path(config.getoption("--records")).with_name(INTERRUPTED).exists()


def _order(seed: str, item: pytest.Item) -> tuple[bytes, bool, bytes]:
    """Return the place of a test's module, whether it ends what the others use (mark `last`), and its own place."""
    places = (hashlib.sha256(f"{seed} {name}".encode()).digest() for name in (item.path.as_posix(), item.nodeid))
    module, own = places
    return module, item.get_closest_marker("last") is not None, own


class Records:
    """Hooks around every fixture and phase of a test."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)
        self._nested, self._calibrated_s = list[float](), 0.0
        self._group = os.environ.get(COUNTED, "")
        self._threads: dict[threading.Thread, str] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Measure the set-up of a fixture, excluding the fixtures that it uses."""
        self._nested.append(0.0)
        name, began_s = f"{fixturedef.argname} ({fixturedef.scope})", self._cpu_s()
        try:
            return (yield)
        finally:
            took_s = self._cpu_s() - began_s
            self._write(kind="fixture", name=name, cpu_s=took_s - self._nested.pop())
            if self._nested:
                self._nested[-1] += took_s

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test with its fixtures, from the first to the last moment."""
        if is_over(item.config):
            return (yield)
        self._calibrate()
        self._write(kind="begin", name=item.nodeid)
        before = _threads()
        try:
            with self._measured("test", item.nodeid):
                return (yield)
        finally:
            begun = dict.fromkeys(_threads() - before, item.nodeid)
            self._threads = {thread: test for thread, test in {**self._threads, **begun}.items() if thread.is_alive()}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Measure the test's own function."""
        with self._measured("call", item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Measure the end of fixtures; of all of a module if the next test is of another one."""
        last = nextitem is None or nextitem.path != item.path
        with self._measured("module end" if last else "call", item.nodeid):
            return (yield)

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
        """Write how many tests there are."""
        self._write(kind="collected", count=len(session.items))

    def pytest_unconfigure(self) -> None:
        """Write which threads keep the process, by the test that began them, and give these a bound."""
        left = {test: thread.name for thread, test in self._threads.items() if thread.is_alive()}
        self._write(kind="end", threads=left, at_s=time.time())
        faulthandler.dump_traceback_later(EXIT_S, exit=True)

    @contextmanager
    def _measured(self, kind: str, name: str) -> Iterator[None]:
        began_s, cpu_s = time.monotonic(), self._cpu_s()
        try:
            yield
        finally:
            self._write(kind=kind, name=name, seconds=time.monotonic() - began_s, cpu_s=self._cpu_s() - cpu_s)

    def _calibrate(self) -> None:
        """Record what a fixed loop takes just now: beside other work, the same test takes more CPU time."""
        if time.monotonic() - self._calibrated_s > _CALIBRATE_EACH_S:
            began_s, number = time.thread_time(), 0
            for one in range(200_000):
                number += one % 7
            self._write(kind="calibration", cpu_s=time.thread_time() - began_s)
            self._calibrated_s = time.monotonic()

    def _cpu_s(self) -> float:
        if self._group and (counted := used_s(Path(self._group))) is not None:
            return counted
        used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in used)

    def _write(self, **fields: object) -> None:
        self._file.write(json.dumps(fields) + "\n")


def _threads() -> set[threading.Thread]:
    """Return the threads for which the interpreter waits at its end."""
    return {thread for thread in threading.enumerate() if not thread.daemon}
