"""A replay keeps nothing of an ended job but its times, so logs of any length fit into memory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.zoe_simulator.reference import simulate
from tests.unit.zoe_simulator.test_replay import random_trace
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.trace import Replay

ENDED_MAX = 20
JOBS = 600
# Most waiting and running jobs at a time in this trace, and ends at one moment, beside the ones removed together.
AT_ONCE_MAX = 250


def entries(replay: Any) -> dict[str, int]:
    """How much each part of a replay holds that is not its result."""
    state, cache = replay._store._state, replay._master.cache
    return {
        "executions": len(state.executions),
        "journal": len(state.journal) // 11,  # as many entries as a job has at most
        "jobs": len(replay._jobs) + len(replay._ended) + len(replay._ends),
        "services": len(replay._backend._services) + len(replay._backend._forgotten),
        "cache": len(cache._executions) + len(cache._ended_here) + len(cache.alive_of_active),
        "seen": len(replay._master._observer._changes._executions),
    }


@pytest.mark.parametrize("backfill", ["none", "easy"])
def test_memory_of_a_replay_does_not_grow_with_the_log(monkeypatch: pytest.MonkeyPatch, backfill: str) -> None:
    monkeypatch.setattr("zoe_simulator.trace._ENDED_MAX", ENDED_MAX)
    monkeypatch.setattr("zoe_master.backends.simulated.backend._FORGOTTEN_MAX", ENDED_MAX)
    trace = random_trace(1, jobs=JOBS, processors=64)  # wide enough that no queue grows
    replay = Replay(trace, Policy(backfill=backfill, order="fifo", ageing_s=0.0))
    most: dict[str, int] = {}

    def look(_started: int) -> None:
        for name, count in entries(replay).items():
            most[name] = max(most.get(name, 0), count)

    starts = {run.job.id: run.start_s for run in replay.run(look)}
    assert starts == simulate(trace.processors, list(trace.jobs), backfill, "fifo")
    assert {name: count for name, count in most.items() if count > AT_ONCE_MAX} == {}
    left = entries(replay)
    assert (left["jobs"], left["cache"], left["seen"]) == (0, 1, 0), "but the last end, which no tick has read again"
    assert left["executions"] <= ENDED_MAX


def test_executions_are_found_by_id_without_a_look_at_the_others() -> None:
    """The master asks so for each submission that it hears of."""
    replay: Any = Replay(random_trace(2, jobs=60), Policy(order="fifo"))

    class Unread(dict[str, Any]):
        def values(self) -> Any:
            raise AssertionError("all executions are looked at")

    state = replay._store._state
    state.executions = Unread(state.executions)
    for job in replay._trace.jobs[:5]:
        replay._submit(job)
    assert replay._submitted == 5
