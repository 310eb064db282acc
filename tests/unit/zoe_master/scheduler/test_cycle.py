from dataclasses import replace
from typing import Any

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_client.vocabulary import PromiseRisk
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseNotice
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.admission import admit
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request
from zoe_master.scheduler.what_if.explain import explain
from zoe_master.scheduler.what_if.proposal import ComponentChange, ComponentPart


def decide(*waiting: Execution, nodes: Any, active: Any = (), policy: Policy | None = None) -> Plan:
    return schedule(Snapshot(100.0, nodes, waiting, active), policy or Policy())


def placed(plan: Plan, execution_id: str) -> list[str]:
    return [p.node for p in plan.starts[execution_id]]


def test_services_go_where_the_fewest_are_then_where_most_memory_is_free() -> None:
    nodes = (node("small", memory_gib=16), node("large", memory_gib=64))
    plan = decide(queued("a", component(essential_count=3)), nodes=nodes)
    assert placed(plan, "a") == ["large", "small", "large"]


def test_ties_fall_to_the_first_name_and_the_order_of_nodes_does_not_matter() -> None:
    nodes = (node("b"), node("a"), node("c"))
    plans = [decide(queued("x", component(essential_count=2)), nodes=n) for n in (nodes, nodes[::-1])]
    assert plans[0] == plans[1]
    assert placed(plans[0], "x") == ["a", "b"]


def test_an_exact_fit_is_a_fit_for_the_whole_cluster() -> None:
    nodes = (node("a", cores=4), node("b", cores=4))
    plan = decide(queued("x", component(cores=2, essential_count=4)), nodes=nodes)
    assert len(placed(plan, "x")) == 4


def test_a_core_that_does_not_fit_leaves_no_trace_on_the_ledger() -> None:
    ledger = Ledger((node("a", cores=4), node("b", cores=4)), (started(queued("r", component(cores=2)), "b"),))
    before = (list(ledger.free_cores), list(ledger.free_memory), list(ledger.services))
    answer = admit(
        queued("x", component("x", cores=3, essential_count=2), component("y")), ServicePlacer(ledger, Policy())
    )
    assert isinstance(answer, Request)
    assert (ledger.free_cores, ledger.free_memory, ledger.services) == before


def test_a_tight_packing_is_tried_before_giving_up() -> None:
    nodes = (node("a", cores=4), node("b", cores=4))
    execution = queued("x", component("small", cores=1, essential_count=2), component("big", cores=4))
    assert "x" in decide(execution, nodes=nodes).starts


def test_elastic_services_get_what_cores_leave() -> None:
    nodes = (node("a", cores=4),)
    first = queued("first", component(essential_count=1, total_count=9))
    second = queued("second", component(essential_count=2), at_s=1)
    plan = decide(first, second, nodes=nodes)
    assert {k: len(v) for k, v in plan.starts.items()} == {"first": 2, "second": 2}


def test_a_running_execution_gets_elastic_services_later() -> None:
    nodes = (node("a", cores=4),)
    running = started(queued("r", component(essential_count=1, total_count=3)), "a")
    assert len(decide(nodes=nodes, active=(running,)).elastic["r"]) == 2


def test_all_get_their_preferred_services_before_any_gets_more() -> None:
    nodes = (node("a", cores=9),)
    early = started(queued("early", component(essential_count=1, preferred_count=3, total_count=9)), "a")
    late = queued("late", component(essential_count=1, preferred_count=2, total_count=9), at_s=1)
    for policy in (FIFO, replace(FIFO, tenants="drf")):
        plan = decide(late, nodes=nodes, active=(early,), policy=policy)
        assert {k: len(v) for k, v in (plan.starts | plan.elastic).items()} == {"early": 6, "late": 2}


def test_tenants_take_turns_within_the_preferred_counts_and_again_beyond_them() -> None:
    nodes = (node("a", cores=12),)
    shape = component(essential_count=1, preferred_count=3, total_count=20)
    executions = [replace(queued(name, shape), tenant=name) for name in ("one", "two")]
    plan = decide(*executions, nodes=nodes, policy=Policy(tenants="drf"))
    assert {k: len(v) for k, v in plan.starts.items()} == {"one": 6, "two": 6}


def test_services_beyond_the_preferred_count_give_way_first() -> None:
    nodes = (node("a", cores=7),)
    shape = component(essential_count=1, preferred_count=2, total_count=5)
    early = started(queued("early", shape), *["a"] * 4)
    late = started(queued("late", component(essential_count=1, total_count=3), at_s=1), *["a"] * 3)
    for policy in (FIFO, replace(FIFO, tenants="drf")):
        plan = decide(queued("new", component(cores=2), at_s=2), nodes=nodes, active=(early, late), policy=policy)
        assert {k: len(v) for k, v in plan.preempt.items()} == {"early": 2}


def test_an_execution_whose_promise_is_at_risk_gets_all_services_first() -> None:
    nodes = (node("a", cores=9),)
    shape = component(essential_count=1, preferred_count=2, total_count=9)
    safe, at_risk = (started(queued(name, shape, at_s=at_s), "a") for name, at_s in (("safe", 0), ("at-risk", 1)))
    notice = PromiseNotice(PromiseRisk.SLOWER, 1200.0, 90.0)
    at_risk = replace(at_risk, promise=Promise(FinishTerms(1000.0, 0.9, 0, 300.0, 0.0), 0.0, notice=notice))
    plan = decide(nodes=nodes, active=(safe, at_risk), policy=FIFO)
    assert {k: len(v) for k, v in plan.elastic.items()} == {"at-risk": 7}


def test_a_pause_that_only_a_clock_gone_back_explains_is_over() -> None:
    policy = Policy(retry_backoff_max_s=300.0)
    before_the_jump = replace(queued("x"), not_before_s=100.0 + 3600.0)
    assert placed(decide(before_the_jump, nodes=(node("a"),), policy=policy), "x") == ["a"]
    longest = replace(queued("x"), not_before_s=100.0 + 300.0)
    assert not decide(longest, nodes=(node("a"),), policy=policy).starts


def test_one_that_never_fits_blocks_nobody_and_a_retry_waits_for_its_time() -> None:
    nodes = (node("a", cores=4),)
    giant = queued("giant", component(cores=64))
    later = replace(queued("later", at_s=1), not_before_s=200.0)
    plan = decide(giant, later, queued("small", at_s=2), nodes=nodes)
    assert list(plan.starts) == ["small"]
    assert plan.reasons["giant"].code is ReasonCode.NEVER_FITS
    assert plan.reasons["later"].code is ReasonCode.RETRY_BACKOFF


def test_a_cluster_without_nodes_is_a_reason_of_its_own() -> None:
    assert decide(queued("a"), nodes=()).reasons["a"].code is ReasonCode.NO_NODES


def test_counts_say_how_many_nodes_each_filter_refused() -> None:
    nodes = (node("a", ready=False), node("b", cores=1), node("c", cores=1), node("d", labels={"x": "1"}))
    wants = component(cores=2, labels=(("x", "1"),))
    busy = started(queued("r", component(cores=8)), "d")
    reason = decide(queued("q", wants), nodes=nodes, active=(busy,)).reasons["q"]
    assert reason.counts == {"readiness": 1, "labels": 2, "resources": 1}


def test_bounds_end_a_pass_early_and_say_so() -> None:
    nodes = (node("a", cores=100),)
    waiting = [queued(f"e{i}", at_s=i) for i in range(5)]
    scanned = decide(*waiting, nodes=nodes, policy=Policy(queue_scan_max=2))
    assert len(scanned.starts) == 2
    assert scanned.reasons["e4"].code is ReasonCode.SCAN_LIMIT
    assert len(decide(*waiting, nodes=nodes, policy=Policy(placements_per_tick_max=3)).starts) == 3


def test_a_negative_weight_turns_spread_into_pack() -> None:
    nodes = (node("a"), node("b"))
    plan = decide(queued("x", component(essential_count=3)), nodes=nodes, policy=Policy(weighers={"free_memory": -1.0}))
    assert placed(plan, "x") == ["a", "a", "a"]


def test_explain_names_the_first_of_those_ahead_of_the_same_tenant_only() -> None:
    own = [queued(f"own{i:02}", component(cores=9), at_s=i) for i in range(12)]
    others = [replace(queued(f"other{i}", at_s=i), tenant="others") for i in range(3)]
    asked = queued("asked", at_s=99)
    answer = explain(Snapshot(100.0, (node("a"),), (*own, *others, asked)), FIFO, "asked")
    assert answer is not None
    assert (answer.ahead, answer.ahead_of_tenant) == (15, 12)
    assert answer.ahead_ids == [f"own{i:02}" for i in range(10)]


def test_explain_counts_who_is_ahead_and_says_what_each_node_lacks() -> None:
    nodes = (node("a", cores=2), node("b", cores=2))
    busy = started(queued("r", component(cores=1)), "a")
    first = queued("first", component(cores=2, essential_count=2))
    second = queued("second", at_s=1)
    snapshot = Snapshot(100.0, nodes, (first, second), (busy,))
    answer = explain(snapshot, FIFO, "first")
    assert answer is not None
    assert (answer.ahead, answer.nodes) == (0, {"a": {"c": "cores: 2 needed, 1 free"}})
    assert answer.change == ComponentChange("c", ComponentPart.CORES, 2000, 1000)
    behind = explain(snapshot, FIFO, "second")
    assert behind is not None
    assert (behind.ahead, behind.ahead_of_tenant, behind.ahead_ids) == (1, 1, ["first"])
    assert behind.nodes == {}
    assert explain(snapshot, FIFO, "r") is None
