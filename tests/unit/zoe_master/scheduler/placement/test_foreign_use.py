"""A core that waits for foreign programs blocks no other, and its reason has nodes and amounts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import FIFO, GIB, component, node, queued, started
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import BACKFILLS, Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler import queue_pass
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.admission import admit
from zoe_master.scheduler.what_if.explain import explain
from zoe_master.scheduler.what_if.forecast import wait_of

DESKTOP = node("desktop", cores=8, memory_gib=32, foreign=Resources(0, 12 * GIB))
HOARDER = queued("hoarder", component(memory_gib=21))
HELLO = queued("hello", component(cores=1, memory_gib=0.1), at_s=1.0)


def decide(*waiting: Execution, nodes: tuple[Node, ...] = (DESKTOP,), policy: Policy = FIFO, **more: object) -> Plan:
    return schedule(Snapshot(100.0, nodes, waiting, **more), policy)  # type: ignore[arg-type]


@pytest.mark.parametrize("backfill", sorted(BACKFILLS))
def test_it_holds_up_nobody(backfill: str) -> None:
    plan = decide(HOARDER, HELLO, policy=replace(FIFO, backfill=backfill))
    assert list(plan.starts) == ["hello"]
    assert plan.reasons["hoarder"].code is ReasonCode.FOREIGN_USE


def test_the_reason_names_the_node_and_how_much_other_programs_use() -> None:
    reason = decide(HOARDER).reasons["hoarder"]
    assert reason.sentence == (
        "Its essential services (1 core and 21 GiB) do not fit next to programs that Zoe does not run. "
        "They use about 12 GiB of 32 GiB of memory on desktop."
    )
    assert reason.hint == (
        "it starts when these programs use less; until then it keeps its turn and blocks no other execution"
    )
    assert reason.counts == {"resources": 1}


def test_the_largest_uses_are_named_first_and_few_of_them() -> None:
    nodes = tuple(
        node(f"n{i}", cores=8, memory_gib=32, devices={"gpu": 2}, foreign=Resources(i * 1000, 0, {"gpu": i % 2}))
        for i in range(1, 6)
    )
    wants = queued("wants", component(cores=8, memory_gib=1, devices={"gpu": 1}))
    down = node("down", cores=8, devices={"gpu": 1}, ready=False, foreign=Resources(8000))
    sentence = decide(wants, nodes=(*nodes, replace(down, total=Resources(8000)))).reasons["wants"].sentence
    assert sentence.endswith(
        "They use about 5 of 8 cores; 1 of 2 gpu on n5, about 4 of 8 cores on n4, "
        "about 3 of 8 cores; 1 of 2 gpu on n3, and some on 2 more nodes."
    )


def test_small_changes_of_foreign_use_keep_the_reason() -> None:
    flutters = replace(DESKTOP, foreign=Resources(0, 12 * GIB + 200 * 2**20))
    assert decide(HOARDER, nodes=(flutters,)).reasons["hoarder"] == decide(HOARDER).reasons["hoarder"]
    wants = queued("wants", component(cores=8, memory_gib=1))
    busy = [node("n", cores=8, memory_gib=32, foreign=Resources(milli, 0)) for milli in (2900, 3000, 3200)]
    assert len({decide(wants, nodes=(node,)).reasons["wants"].sentence for node in busy}) == 1


def test_explain_says_per_node_what_other_programs_use_and_what_would_help() -> None:
    told = explain(Snapshot(100.0, (DESKTOP,), (HOARDER, HELLO)), FIFO, "hoarder")
    assert told is not None
    assert told.reason is not None
    assert told.reason.code is ReasonCode.FOREIGN_USE
    assert told.nodes == {"desktop": {"c": "memory: 21 GiB needed, 20 GiB free; other programs use 12 GiB"}}
    assert told.change is not None
    assert told.change.after <= 20 * GIB


def test_whom_an_end_of_zoe_would_help_closes_the_door_as_ever() -> None:
    nodes = (replace(DESKTOP, foreign=Resources(0, 8 * GIB)),)
    busy = started(queued("busy", component(memory_gib=8), expected_run_s=500.0), "desktop")
    plan = decide(HOARDER, HELLO, nodes=nodes, active=(busy,))
    assert not plan.starts
    assert plan.reasons["hoarder"].code is ReasonCode.NO_RESOURCES


def test_it_goes_first_when_the_memory_is_free_again() -> None:
    freed = (replace(DESKTOP, foreign=Resources()),)
    wide = queued("wide", component(memory_gib=12), at_s=1.0)
    assert list(decide(HOARDER, wide).starts) == ["wide"]
    plan = decide(HOARDER, wide, nodes=freed)
    assert list(plan.starts) == ["hoarder"]
    assert plan.reasons["wide"].code is ReasonCode.NO_RESOURCES


def test_a_node_that_is_away_is_what_it_waits_for_if_that_alone_keeps_it() -> None:
    away = node("large", memory_gib=64, ready=False)
    wants = queued("wants", component(memory_gib=40))
    assert decide(wants, nodes=(DESKTOP, away)).reasons["wants"].code is ReasonCode.NODES_AWAY
    assert decide(HOARDER, nodes=(DESKTOP, away)).reasons["hoarder"].code is ReasonCode.FOREIGN_USE


def test_thousands_that_need_the_same_are_placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(execution: Execution, placer: object) -> object:
        tried.append(execution.id)
        return admit(execution, placer)  # type: ignore[arg-type]

    monkeypatch.setattr(queue_pass, "admit", counted)
    waiting = [queued(f"e{i:04}", component(memory_gib=21), at_s=float(i)) for i in range(2000)]
    plan = decide(*waiting, replace(HELLO, submitted_at_s=5000.0))
    assert tried == ["e0000", "hello"]
    assert list(plan.starts) == ["hello"]


def test_there_is_no_forecast_for_it_and_it_delays_none() -> None:
    busy = started(queued("busy", component(cores=8), expected_run_s=200.0), "desktop")
    next_one = queued("next", component(cores=8), at_s=1.0, expected_run_s=10.0)
    last = queued("last", component(cores=8), at_s=3.0, expected_run_s=10.0)
    late = replace(HOARDER, submitted_at_s=2.0)
    snapshot = Snapshot(100.0, (DESKTOP,), (next_one, late, last), (busy,))
    waits = {e.id: wait_of(snapshot, FIFO, e.id, Estimates({})) for e in snapshot.queued}
    found = {name: wait.seconds for name, wait in waits.items() if wait is not None}
    assert found == {"next": 101.0, "hoarder": float("inf"), "last": 111.0}


def test_little_use_is_not_told_as_much_and_only_where_it_matters() -> None:
    little = 2 * 2**20
    both = node("both", cores=8, memory_gib=32, foreign=Resources(4000, little))
    wants_cores = decide(queued("wants", component(cores=8, memory_gib=1)), nodes=(both,)).reasons["wants"]
    assert wants_cores.sentence.endswith("They use about 4 of 8 cores on both.")
    full = node("full", cores=8, memory_gib=32, foreign=Resources(0, little))
    wants_all = decide(queued("wants", component(cores=1, memory_gib=32)), nodes=(full,)).reasons["wants"]
    assert wants_all.sentence.endswith("They use less than 2 GiB of 32 GiB of memory on full.")
