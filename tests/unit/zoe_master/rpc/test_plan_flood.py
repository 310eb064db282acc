"""Eight of the largest plans at once: the master keeps answering, computes no plan twice, and gives up in time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.api import in_threads
from tests.support.manual_clock import ManualClock
from tests.support.scheduling import component, node, queued, started
from zoe_lib.descriptions.bounds import COMPONENTS_MAX, SERVICES_MAX
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.messaging.client import MasterClient, MasterRefused
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.messaging.server import Server
from zoe_lib.store.documents.codec import encode
from zoe_master.loop import tick as tick_module
from zoe_master.loop.master import Master
from zoe_master.loop.tick import Tick
from zoe_master.rpc import handlers as answers
from zoe_master.rpc.handlers import RpcHandlers
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.what_if import proposal
from zoe_master.state.run_times import LearnedRunTimes

NODES = tuple(node(f"n{i:04}", cores=16, memory_gib=64) for i in range(200))
BUSY = tuple(
    started(queued(f"b{i}", component("b", cores=8, memory_gib=32), expected_run_s=100.0 + i), f"n{i:04}")
    for i in range(200)
)
ONE_KIND = queued("x", component(cores=0.3, memory_gib=1, essential_count=SERVICES_MAX))
MANY_KINDS = queued(
    "x",
    *(
        component(f"c{i}", cores=0.3, memory_gib=1 + i / 10_000, essential_count=SERVICES_MAX // COMPONENTS_MAX)
        for i in range(COMPONENTS_MAX)
    ),
)
USERS = 8


class Counted:
    """Numbers of started plans and passes, and CPU seconds of the thread of each plan."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.plans, self.passes = 0, 0
        self._lock = threading.Lock()

        def counted_plan(*args: Any) -> Any:
            with self._lock:
                self.plans += 1
            return proposal.propose(*args)

        def counted_pass(*args: Any) -> Any:
            with self._lock:
                self.passes += 1
            return schedule(*args)

        monkeypatch.setattr(tick_module, "propose", counted_plan)
        monkeypatch.setattr(proposal, "schedule", counted_pass)


@pytest.fixture
def master() -> Master:
    """Return a master that has seen the cluster, without a store."""
    made = Master.__new__(Master)
    made.latest = Tick(Snapshot(10.0, NODES, (), BUSY), Plan(), "plan-1", 0.0, raced=False)
    made._clock = ManualClock(10.0)
    made.waits_for_credential = lambda _: None
    made.waits_for_prologue = lambda _: None
    made.run_times = LearnedRunTimes()
    return made


@pytest.fixture
def client(master: Master, tmp_path: Path) -> Iterator[MasterClient]:
    ensure_keys(tmp_path)
    nothing: Any = None
    answering = RpcHandlers(master, nothing, nothing, "test", 1)
    server = Server("tcp://127.0.0.1:*", tmp_path, answering.handlers(), answering.slow())
    made = MasterClient(server.endpoint, tmp_path, 60.0, 2)
    yield made
    made.close()
    server.close()


@pytest.mark.parametrize("wanted", [ONE_KIND, MANY_KINDS], ids=["one kind", "many kinds"])
def test_eight_of_the_largest_plans_at_once(client: MasterClient, wanted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    application = encode(wanted.application)

    def ask(number: int) -> Any:
        if number >= USERS:
            return [client.ask("status")["nodes"] for _ in range(10)]
        body = {"application": application, "tenant": "red", "user": f"u{number}"}
        try:
            return client.ask("plan", body, asker=f"u{number}")
        except MasterRefused as refused:
            return refused.code

    *told, looked, again = in_threads(USERS + 2, ask)
    answered = [entry for entry in told if entry != "plan_busy"]
    assert looked == again == [200] * 10
    assert len(answered) >= 2
    assert counted.plans == len(answered)
    assert all(not entry["starts_now"] and entry["reason"]["code"] == "no_resources" for entry in answered)


def test_the_search_ends_with_its_budget(client: MasterClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice on one clock, since steps are counted: the answer says after how many it was cut."""
    counted = Counted(monkeypatch)
    monkeypatch.setattr(tick_module, "SEARCH_STEPS", 40_000)
    monkeypatch.setattr(tick_module, "forecast", lambda *_: None)
    body = {"application": encode(ONE_KIND.application), "tenant": "red", "user": "ada"}
    first, passes = client.ask("plan", body), counted.passes
    assert (first["change"], first["change_sought"], first["cut_after_steps"]) == (None, False, 40_000)
    assert (client.ask("plan", body)["reason"], counted.passes) == (first["reason"], 2 * passes)


LONG, LOOKS = 30_000, 100


@cache
def very_long_queue() -> tuple[Execution, ...]:
    """Return a queue with one execution that holds a reservation, and many that would have to pass it."""
    one = queued("x", component(cores=12, memory_gib=1), expected_run_s=10.0)
    passing = queued("x", component(cores=0.5, memory_gib=1), expected_run_s=1e6)
    return (one, *(replace(passing, id=f"q{i}") for i in range(LONG)))


@pytest.mark.parametrize("backfill", ["easy", "easy-sjbf", "conservative"])
@pytest.mark.parametrize("kind", ["plan", "dry_run", "explain"])
def test_a_look_at_a_very_long_queue_ends_with_its_budget(
    client: MasterClient, master: Master, monkeypatch: pytest.MonkeyPatch, kind: str, backfill: Any
) -> None:
    """A hundred examinations are the budget here."""
    policy = Policy(backfill=backfill, backfill_depth_max=LONG)
    assert master.latest is not None
    snapshot = replace(master.latest.snapshot, queued=very_long_queue())
    master.latest = replace(master.latest, snapshot=snapshot, policy=policy)
    looks = [0]
    go_on = ServicePlacer.check_budget

    def counted(placer: ServicePlacer, steps: int = 1) -> None:
        looks[0] += 1
        go_on(placer, steps)

    monkeypatch.setattr(ServicePlacer, "check_budget", counted)
    for module in (answers, tick_module):
        monkeypatch.setattr(module, "PASS_STEPS", LOOKS)
    body = {
        "plan": {"application": encode(ONE_KIND.application), "tenant": "red", "user": "ada"},
        "dry_run": {"policy": encode(policy)},
        "explain": {"execution_id": "x"},
    }[kind]
    with pytest.raises(MasterRefused) as refused:
        client.ask(kind, body)
    assert refused.value.code == "queue_too_long"
    assert f"cut after {(2 if kind == 'dry_run' else 1) * LOOKS} steps" in str(refused.value)
    assert looks[0] <= (2 if kind == "dry_run" else 1) * LOOKS + 1
