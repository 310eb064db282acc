"""Tests end the master at named points by its environment; by default nothing happens."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from zoe_master.state.crash_points import CrashPoint, crash_point_of, never_crash


def test_no_crash_point_without_a_name() -> None:
    assert crash_point_of({}) is never_crash
    assert crash_point_of({"ZOE_CRASH_SIGNAL": "SIGKILL"}) is never_crash


@pytest.mark.parametrize(("named", "sent"), [({}, signal.SIGKILL), ({"ZOE_CRASH_SIGNAL": "SIGSTOP"}, signal.SIGSTOP)])
def test_the_process_signals_itself_at_the_point_that_is_named(
    monkeypatch: pytest.MonkeyPatch, named: dict[str, str], sent: signal.Signals
) -> None:
    signals: list[Any] = []
    monkeypatch.setattr(os, "kill", lambda *what: signals.append(what))
    hit = crash_point_of({"ZOE_CRASH_AT": "planned", **named})
    for point in CrashPoint:
        hit(point)
    assert signals == [(os.getpid(), sent)]


def test_a_point_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        crash_point_of({"ZOE_CRASH_AT": "nowhere"})
