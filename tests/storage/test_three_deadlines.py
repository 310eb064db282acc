"""`make demo-deadline` from an empty home: promises of a Spark job are kept, and an impossible one is countered."""

from __future__ import annotations

import os
import re
from pathlib import Path

import psutil

from tests.demo.test_demo import home
from tests.support.long import of_storage
from tests.support.needs import need_program
from tests.support.run_through import run_through
from tests.support.runtimes import runtimes_of_the_clone

__all__ = ["home"]


def run_demo(home: Path, *options: str, within_s: float = 900) -> str:
    environment = {**runtimes_of_the_clone(), "ZOE_HOME": str(home)}
    done = run_through("zoe_embedded.demos.deadline", *options, within_s=within_s, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [process for process in psutil.process_iter(["cmdline", "environ"]) if _is_of(home, process)] == []
    return done.stdout


def _is_of(home: Path, process: psutil.Process) -> bool:
    """By its command or, as a JVM, whose Spark is shared, by its variables."""
    words = [*(process.info["cmdline"] or []), *(process.info["environ"] or {}).values()]
    return process.pid != os.getpid() and str(home) in " ".join(words)


@of_storage
def test_three_deadlines_end_in_three_choices(home: Path) -> None:
    need_program("memcached")
    told = run_demo(home, within_s=3000)
    assert "All 4 promises were kept." in told
    assert "Deadlines: 3, choices: 3." in told


@of_storage
def test_the_short_demo_keeps_a_promise_and_an_offer(home: Path) -> None:
    need_program("memcached")
    told = run_demo(home, "--short", "--rows", "24000")
    assert re.search(r"^  late, in \d+ s: \d worker", told, re.MULTILINE)
    assert re.search(r"^  impossible, in \d+ s: .+\.$", told, re.MULTILINE)
    assert re.search(r"^    offer 1 \(earliest\): in \d+ s", told, re.MULTILINE)
    assert "All 2 promises were kept." in told
    assert "The answers equal those computed without Spark." in told
