"""A pytest plugin that selects the tests of a tier, and records the outcome and the cost of each test as it runs.

Loaded by the runner with `-p scripts.testing.plugin --records FILE [--tier 1|2] [--until EPOCH]`; the file holds one
JSON object per line. CPU seconds are those of the run's control group, which counts daemons and containers; without
one, those of this process and of the children for which it has waited. ZOE_RANDOM_ORDER=SEED runs modules, and the
tests of each module, in the order of that seed.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import json
import os
import random
import resource
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.testing.costs import Costs
from scripts.testing.cpu_groups import COUNTED, used_s

INTERRUPTED = "interrupted"
"""A file beside the records of a run; while it exists, no further test begins."""
ORDER = "ZOE_RANDOM_ORDER"
OUTPUT_CHARACTERS_MAX = 4_000
EXIT_S = float(os.environ.get("ZOE_TEST_EXIT_S", "120"))
"""Seconds for the process to exit after its last test: a thread that a test left could keep it for ever."""
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
    if hang_s := float(config.getini("faulthandler_timeout") or 0):  # pytest's own begins with the first test
        faulthandler.dump_traceback_later(hang_s, exit=True, file=os.dup(2))
    config.pluginmanager.register(Records(Path(config.getoption("--records"))), "records")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the tier, in random order if one is given."""
    if tier := config.getoption("--tier"):
        costs = Costs.read()
        config.hook.pytest_deselected(items=[item for item in items if costs.tier(item.nodeid) != tier])
        items[:] = [item for item in items if costs.tier(item.nodeid) == tier]
    if seed := os.environ.get(ORDER):
        items.sort(key=lambda item: _order(seed, item))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Skip a test silently, once the time of this run is over."""
    until, records = item.config.getoption("--until"), Path(item.config.getoption("--records"))
    return (bool(until) and time.time() > until) or records.with_name(INTERRUPTED).exists() or None


def _order(seed: str, item: pytest.Item) -> tuple[float, bool, float]:
    """Return the place of a test's module, whether it ends what the others use (mark `last`), and its own place."""
    module, own = (random.Random(f"{seed} {name}").random() for name in (item.path.as_posix(), item.nodeid))
    return module, item.get_closest_marker("last") is not None, own


class Records:
    """Hooks that write one record when a test begins, and one with its outcome and its costs when it has ended."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)
        self._group, self._pid = os.environ.get(COUNTED, ""), os.getpid()
        self._nested_s, self._calibrated_s = 0.0, 0.0
        self._began_s, self._began_cpu_s = 0.0, 0.0
        self._test: dict[str, Any] = {}
        atexit.register(self._end)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write that a test begins: the process may die before its end."""
        self._write(begin=nodeid, **self._calibration())
        self._test = {"test": nodeid, "outcome": "passed", "text": "", "shared_s": 0.0, "session": {}}
        self._began_s, self._began_cpu_s = time.monotonic(), self._cpu_s()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the output of a failure in any phase, or the reason of a skip."""
        if report.failed:
            failed = self._test["text"] if self._test["outcome"] == "failed" else ""
            text = f"{failed}{report.longreprtext[-OUTPUT_CHARACTERS_MAX:]}\n"
            self._test |= {"outcome": "failed", "text": text}
        elif report.skipped and self._test["outcome"] == "passed":
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self._test |= {"outcome": "skipped", "text": reason.removeprefix("Skipped: ")}

    def pytest_runtest_logfinish(self) -> None:
        """Write the outcome, and the costs of the test without fixtures that others use too."""
        spent_s = self._cpu_s() - self._began_cpu_s
        own_s = spent_s - self._test["shared_s"] - sum(self._test["session"].values())
        self._write(**self._test, own_s=own_s, seconds=time.monotonic() - self._began_s)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Measure the set-up of a fixture that other tests use too, without the fixtures that it uses."""
        if fixturedef.scope == "function":
            return (yield)
        outer_s, self._nested_s, began_s = self._nested_s, 0.0, self._cpu_s()
        try:
            return (yield)
        finally:
            took_s = self._cpu_s() - began_s
            own_s, self._nested_s = took_s - self._nested_s, outer_s + took_s
            if fixturedef.scope == "session":
                self._test["session"][fixturedef.argname] = own_s
            else:
                self._test["shared_s"] += own_s

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Count the end of a module's fixtures for the module."""
        began_s = self._cpu_s()
        try:
            return (yield)
        finally:
            if nextitem is None or nextitem.path != item.path:
                self._test["shared_s"] += self._cpu_s() - began_s

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write that a file could not be collected."""
        if report.failed:
            self._write(test=report.nodeid, outcome="failed", text=report.longreprtext)

    def pytest_unconfigure(self) -> None:
        """Write the threads that keep the process, and bound their time."""
        main = threading.main_thread()
        self._write(left=[thread.name for thread in threading.enumerate() if not thread.daemon and thread is not main])
        faulthandler.dump_traceback_later(EXIT_S, exit=True)

    def _end(self) -> None:
        """Write that the interpreter has waited for all threads, which it does before this."""
        if os.getpid() == self._pid:
            self._write(end=True)

    def _calibration(self) -> dict[str, float]:
        """Return the present time of a fixed loop, at intervals: on a busy machine, a test takes more CPU time."""
        if time.monotonic() - self._calibrated_s < _CALIBRATE_EACH_S:
            return {}
        self._calibrated_s, began_s, number = time.monotonic(), time.thread_time(), 0
        for entry in range(200_000):
            number += entry % 7
        return {"loop_s": time.thread_time() - began_s}

    def _cpu_s(self) -> float:
        if self._group and (counted := used_s(Path(self._group))) is not None:
            return counted
        used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(entry.ru_utime + entry.ru_stime for entry in used)

    def _write(self, **fields: object) -> None:
        self._file.write(json.dumps(fields) + "\n")
