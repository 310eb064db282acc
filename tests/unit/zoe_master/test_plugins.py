"""Plugins are loaded once; broken ones are left out, and a policy that names one places nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.plugins import install
from tests.support.scheduling import FIFO, GIB, component, ledger, node, queued, request
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.plugins import installed_plugins
from zoe_master.plugins import PluginRefused, load_plugins, unknown_names
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.filters import FILTERS
from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request
from zoe_master.scheduler.placement.weighers import WEIGHERS

CODE = """
def sunny(request, node, ledger):
    return None if request.tenant == "sunny" else "it rains"

def torn(request, node, ledger):
    return node.labels["absent"]

def silent(request, node, ledger):
    return False

def dizzy(request, nodes, ledger):
    raise ValueError("which way is up?")

def nan(request, nodes, ledger):
    return [float("nan")] * len(nodes)

def few(request, nodes, ledger):
    return [1.0]

def loud(request, nodes, ledger):
    return [5.0 if ledger.nodes[i].name == "n2" else -7.0 for i in nodes]

def cloud(settings, waker):
    raise RuntimeError

number = 7
"""
ENTRIES = {
    "zoe.filters": {"sunny": "acme_code:sunny", "gone": "acme_code:gone", "number": "acme_code:number"},
    "zoe.backends": {"cloud": "acme_code:cloud"},
}
FAILING = {
    "zoe.filters": {name: f"acme_code:{name}" for name in ("torn", "silent")},
    "zoe.weighers": {name: f"acme_code:{name}" for name in ("dizzy", "nan", "few", "loud")},
}


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Remove a test's filters and weighers from the scheduler after it."""
    filters, weighers = set(FILTERS), set(WEIGHERS)
    yield
    for name in FILTERS.keys() - filters:
        del FILTERS[name]
    for name in WEIGHERS.keys() - weighers:
        del WEIGHERS[name]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "acme_code.py").write_text(CODE)
    install(tmp_path, "acme", ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    installed_plugins.cache_clear()
    yield tmp_path
    installed_plugins.cache_clear()


def test_loadable_plugins_are_loaded_and_others_have_a_reason(site: Path) -> None:
    plugins = load_plugins()
    assert "sunny" in FILTERS
    assert list(plugins.backends) == ["cloud"]
    assert {plugin.name: plugin.problem for plugin in plugins.unusable} == {
        "gone": "acme_code:gone cannot be loaded: AttributeError: module 'acme_code' has no attribute 'gone'",
        "number": "acme_code:number is not a function",
    }


def test_a_policy_is_refused_only_for_what_it_names(site: Path) -> None:
    plugins = load_plugins()
    plugins.check(with_filter("sunny"))
    with pytest.raises(PluginRefused, match=r"filter 'number', which cannot be used: acme 1.2: acme_code:number is"):
        plugins.check(with_filter("number"))
    with pytest.raises(PluginRefused, match="weigher 'mood', which cannot be used: no installed distribution has it"):
        plugins.check(replace(Policy(), weighers={"mood": 1.0}))


def test_a_filter_that_is_not_loaded_places_nothing_and_says_so() -> None:
    policy = with_filter("taste")
    assert [name for _, name in unknown_names(policy)] == ["taste"]
    plan = planned(policy, queued("x"))
    assert not plan.starts
    assert plan.reasons["x"].counts == {"taste": 2}
    refusals = ServicePlacer(ledger(node("n")), policy).refusals(request(component()))
    assert refusals == {"n": ("taste", "filter taste of the policy is not loaded")}


def test_a_weigher_that_is_not_loaded_changes_nothing() -> None:
    policy = replace(FIFO, weighers={"fewest_containers": 1.0, "mood": 7.0})
    assert planned(policy, queued("x")) == planned(replace(FIFO, weighers={"fewest_containers": 1.0}), queued("x"))


@pytest.mark.parametrize(
    ("name", "why"),
    [("torn", "KeyError: 'absent'"), ("silent", "it returned bool, not a string or None")],
)
def test_a_filter_that_fails_refuses_every_node_and_says_so(site: Path, name: str, why: str) -> None:
    install(site, "acme-failing", FAILING)
    installed_plugins.cache_clear()
    load_plugins()
    plan = planned(with_filter(name), queued("x"))
    assert not plan.starts
    assert plan.reasons["x"].counts == {name: 2}
    refusals = ServicePlacer(ledger(node("n")), with_filter(name)).refusals(request(component()))
    assert refusals == {"n": (name, f"filter {name} failed: {why}")}


@pytest.mark.parametrize(("name", "placed_on"), [("dizzy", "n1"), ("nan", "n1"), ("few", "n1"), ("loud", "n2")])
def test_a_weigher_that_fails_changes_nothing_and_one_out_of_range_is_cut(
    site: Path, name: str, placed_on: str
) -> None:
    install(site, "acme-failing", FAILING)
    installed_plugins.cache_clear()
    load_plugins()
    (assignment,) = planned(replace(FIFO, weighers={name: 1.0}), queued("x")).starts["x"]
    assert assignment.node == placed_on
    scores = WEIGHERS[name](request(component()), np.array([0, 1]), ledger(node("n1"), node("n2")))
    assert list(scores) == ([0.0, 1.0] if name == "loud" else [0.0, 0.0])


def test_whom_a_filter_of_others_keeps_out_for_ever_holds_up_nobody() -> None:
    FILTERS["small"] = lambda wanted, _node, _ledger: (
        "too large" if wanted.component.reservation.memory_bytes > GIB else None
    )
    large, small = queued("large", component(memory_gib=2)), queued("small", at_s=1.0)
    plan = planned(with_filter("small"), large, small)
    assert list(plan.starts) == ["small"]
    reason = plan.reasons["large"]
    assert (reason.code, reason.counts) == (ReasonCode.NODES_AWAY, {"small": 2})
    assert reason.sentence.startswith("The nodes that it needs are refused by filters of plugins: without 2 nodes ")


def test_a_filter_of_others_that_only_waits_for_room_keeps_its_turn() -> None:
    FILTERS["alone"] = lambda _wanted, node, ledger: "in use" if ledger.services[ledger.index[node.name]] else None
    first, second = queued("first"), queued("second", component(essential_count=2), at_s=1.0)
    reason = planned(with_filter("alone"), first, second).reasons["second"]
    assert reason.code is ReasonCode.NO_RESOURCES


def test_a_weigher_of_others_is_asked_for_each_request() -> None:
    """The inputs of its scores are unknown: here the component's name, which Zoe's own never use."""

    def by_name(wanted: Request, nodes: Nodes, accounts: Ledger) -> Scores:
        return np.array([float(accounts.nodes[i].name == wanted.component.name) for i in nodes])

    WEIGHERS["by_name"] = by_name
    book = ledger(*(node(name) for name in ("a", "b", "c")))
    placer = ServicePlacer(book, replace(FIFO, weighers={"by_name": 1.0}))
    placed = [placer.place(request(component(name)))[0] for name in ("a", "b", "c", "b", "a")]
    assert [book.nodes[i].name for i in placed] == ["a", "b", "c", "b", "a"]


def with_filter(name: str) -> Policy:
    return replace(FIFO, filters=(*Policy().filters, name))


def planned(policy: Policy, *executions: Execution) -> Plan:
    return schedule(Snapshot(now_s=10.0, nodes=(node("n1"), node("n2")), queued=executions), policy)
