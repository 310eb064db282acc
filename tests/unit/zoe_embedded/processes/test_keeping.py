"""Parts that end while a demo runs are restarted in a thread, within a bound; what a killed program left is ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence

import psutil
import pytest
from rich.console import Console

from tests.support.waiting import until
from zoe_embedded.processes import keeping
from zoe_embedded.processes.children import end_orphans
from zoe_embedded.processes.keeping import REVIVALS_MAX, REVIVALS_WITHIN_S, PartsKeeper, Revivals

AGAIN = "Run this again"


def kept(revive: Callable[[], Sequence[str]], fails: bool, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the output while work beside it fails or not, after the last call of `revive`."""
    monkeypatch.setattr(keeping, "LOOK_INTERVAL_S", 0.001)
    console, calls = Console(record=True, width=200), 0

    def counted() -> Sequence[str]:
        nonlocal calls
        calls += 1
        return revive()

    try:
        with PartsKeeper(console, counted):
            until(lambda: calls > 0)
            if fails:
                raise RuntimeError
    except RuntimeError:
        pass
    return console.export_text()


def test_a_restart_is_told_and_a_failure_after_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    stories = [["proxy had ended with -9 and was restarted"]]

    def revive() -> Sequence[str]:
        return stories.pop() if stories else []

    told = kept(revive, fails=True, monkeypatch=monkeypatch)
    assert "proxy had ended with -9" in told
    assert AGAIN in told
    assert AGAIN not in kept(revive, fails=True, monkeypatch=monkeypatch)  # nothing had ended


def test_failed_restart_is_reported_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def revive() -> Sequence[str]:
        raise OSError("no space left")

    told = kept(revive, fails=True, monkeypatch=monkeypatch)
    assert told.count("A part cannot be restarted: no space left") == 1
    assert AGAIN in told


def test_too_often_is_more_than_so_many_within_a_time() -> None:
    quick, slow = Revivals(), Revivals()
    assert [quick.record_restart(number) for number in range(REVIVALS_MAX + 1)] == [*[False] * REVIVALS_MAX, True]
    apart_s = REVIVALS_WITHIN_S / (REVIVALS_MAX - 1)
    assert not any(slow.record_restart(number * apart_s) for number in range(20))


def test_processes_that_were_left_are_ended_by_their_words_and_variables() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)", "left-of-a-test"]
    environment = {**os.environ, "ZOE_CONFIG": "/one/zoe.toml"}
    ours, other = subprocess.Popen(command, env=environment), subprocess.Popen(command)
    try:
        for process in (ours, other):
            until(lambda process=process: psutil.Process(process.pid).cmdline()[-1:] == ["left-of-a-test"])
        end_orphans(
            lambda words, given: words[-1:] == ["left-of-a-test"] and given.get("ZOE_CONFIG") == "/one/zoe.toml"
        )
        assert ours.poll() is not None
        assert other.poll() is None
    finally:
        for entry in (ours, other):
            entry.kill()
            entry.wait()
