"""From the state of processes to the sentence why a service of this machine does not run as it should."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.services.conditions import condition_of, probe_words
from zoe_master.backends.local.supervisor.processes import Process

STATUS = {"pid": 7, "pid_start_ticks": 70, "shim_pid": 6, "shim_start_ticks": 60}
PROBE = probe_words("web", 5.0)
STOPPED = "its process is stopped by a signal that Zoe did not send; SIGCONT continues it"


def process(pid: int, state: str, ticks: int) -> Process:
    fields = [state.encode(), *[b"0"] * 22]
    fields[19] = str(ticks).encode()
    return Process(pid, fields)


@pytest.mark.parametrize(
    ("states", "changes", "state", "sentence"),
    [
        ("SS", {}, ObservedState.READY, ""),
        ("TS", {}, ObservedState.READY, STOPPED),
        ("TS", {"pid_start_ticks": 71}, ObservedState.READY, ""),
        ("ST", {}, ObservedState.READY, STOPPED.replace("process", "supervisor")),
        ("SS", {}, ObservedState.STARTED, PROBE),
        ("TS", {}, ObservedState.STARTED, f"{STOPPED}; {PROBE}"),
        ("SS", {"pid": 0, "message": "installing packages"}, ObservedState.STARTING, "installing packages"),
    ],
)
def test_each_condition_has_its_sentence(
    states: str, changes: dict[str, Any], state: ObservedState, sentence: str
) -> None:
    there = {7: process(7, states[0], 70), 6: process(6, states[1], 60)}
    assert condition_of({**STATUS, **changes}, state, PROBE, there.get) == sentence
