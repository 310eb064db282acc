"""Promises in the simulator: what is promised is kept, and what is not promised does not run."""

from __future__ import annotations

import math

from zoe_lib.domain.cluster import Node
from zoe_lib.domain.finish_times import PromiseWish
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.resources import Resources
from zoe_simulator.promised_run import PromisedRun
from zoe_simulator.workload import Arrival

GIB = 2**30
NODES = (Node("n1", Resources(8000, 32 * GIB)),)


def arrival(number: int, at_s: float, in_s: float = math.inf, **more: object) -> Arrival:
    values = {"run_s": 100.0, "estimate_s": 100.0, "core": 4, "total": 4, **more}
    return Arrival(number, at_s, component=Resources(1000, GIB), tenant="t", deadline_s=at_s + in_s, **values)  # type: ignore[arg-type]


def run(*arrivals: Arrival, accept: bool = False) -> PromisedRun:
    policy = Policy(promise_offer_s=1.0, promise_share=1.0)
    found = PromisedRun(arrivals, NODES, policy, {one.number: "k" for one in arrivals}, PromiseWish(0.9), accept=accept)
    found.run()
    return found


def test_what_has_room_in_time_is_promised_and_met() -> None:
    found = run(arrival(0, 0.0), arrival(1, 1.0, 150.0))
    assert found.refused == []
    assert [one.arrival.number for one in found.finished] == [0, 1]
    assert found.finished[1].end_s <= found.finished[1].arrival.deadline_s


def test_what_has_none_is_refused_and_others_go_on() -> None:
    found = run(arrival(0, 0.0), arrival(1, 0.0), arrival(2, 1.0, 150.0), arrival(3, 2.0))
    assert [one.number for one in found.refused] == [2]
    assert sorted(one.arrival.number for one in found.finished) == [0, 1, 3]


def test_users_may_accept_what_is_less_sure() -> None:
    """The kind varies by half, so nine of ten take longer than the time that is there, but half do not."""
    taught = [arrival(n, 200.0 * n, run_s=run_s) for n, run_s in enumerate([60.0, 100.0, 140.0] * 8)]
    asked = arrival(30, 5000.0, 125.0, run_s=100.0)
    assert [one.number for one in run(*taught, asked).refused] == [30]
    assert run(*taught, asked, accept=True).refused == []
