"""`make serve` gives up on programs that end repeatedly, and for no other reason."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from zoe_embedded.demos import serving
from zoe_embedded.processes.keeping import REVIVALS_MAX, REVIVALS_WITHIN_S

LOGS = Path("/home-of-zoe/logs")


class Stopped(Exception):  # noqa: N818
    pass


def keep_up(monkeypatch: pytest.MonkeyPatch, every_s: float) -> tuple[int | None, str]:
    """Return the exit code, None if it continued for twenty ends of a process, and the output."""
    times: Iterator[float] = itertools.count(0.0, every_s)
    monkeypatch.setattr(serving, "time", SimpleNamespace(sleep=lambda _s: None, monotonic=lambda: next(times)))
    left = iter(range(20))

    def revive() -> list[str]:
        if next(left, None) is None:
            raise Stopped
        return ["zoe-api had ended with -9 and was restarted"]

    console, home = Console(record=True, width=200), SimpleNamespace(logs=LOGS)
    stack = SimpleNamespace(revive=revive, home=home, runtimes=SimpleNamespace(hold_new=list))
    code: int | None = None
    try:
        made: Any = stack
        code = serving.keep_up(console, made)
    except Stopped:
        pass
    return code, console.export_text()


def test_program_that_ends_repeatedly_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = keep_up(monkeypatch, 0.9 * REVIVALS_WITHIN_S / REVIVALS_MAX)
    assert code == 1
    assert said.count("was restarted") == REVIVALS_MAX + 1
    assert f"That happens too often; see {LOGS}" in said


def test_program_that_ends_rarely_is_restarted_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = keep_up(monkeypatch, 1.1 * REVIVALS_WITHIN_S / REVIVALS_MAX)
    assert code is None
    assert said.count("was restarted") == 20
