"""Whether applications can ever fit: certain causes are named, and empty nodes are packed as in admission."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.scheduling import component, node
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import never_fits
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.resources import Resources


def why_never(*components: Component, nodes: tuple[Any, ...]) -> str | None:
    reason = never_fits(Application("a", components), nodes)
    assert reason is None or reason.code is ReasonCode.NEVER_FITS
    assert reason is None or reason.hint
    return None if reason is None else reason.sentence


def test_without_any_node_nothing_is_known() -> None:
    assert why_never(component(cores=1000), nodes=()) is None


def test_an_exact_fit_of_the_whole_cluster_may_start() -> None:
    assert why_never(component(cores=4, essential_count=2), nodes=(node("a", cores=4), node("b", cores=4))) is None


def test_busy_or_down_nodes_count_as_they_may_come_back() -> None:
    busy = node("a", cores=4, foreign=Resources(4000, 0), ready=False)
    assert why_never(component(cores=4), nodes=(busy,)) is None


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (component(cores=9), "room for 0"),
        (component(memory_gib=64), "room for 0"),
        (component(cores=3, essential_count=5), "room for 4"),
        (component(devices={"gpu": 3}), "3 gpu"),
        (component(labels=(("disk", "tape"),)), "labelled disk=tape"),
    ],
)
def test_certain_cause_is_named(wanted: Component, said: str) -> None:
    nodes = (node("a", devices={"gpu": 2}), node("b"))
    assert said in (why_never(wanted, nodes=nodes) or "")


def test_sums_over_components_count() -> None:
    said = why_never(component("x", cores=6), component("y", cores=6), nodes=(node("a", cores=8),))
    assert said is not None
    assert "together need 12 cores" in said


def test_pieces_that_fit_one_by_one_but_not_at_once_are_refused() -> None:
    nodes = (node("a", cores=4), node("b", cores=4))
    said = why_never(component("x", cores=3, essential_count=2), component("y", cores=2), nodes=nodes)
    assert said is not None
    assert "not all at the same time" in said


def test_elastic_services_are_no_reason_to_refuse() -> None:
    assert why_never(component(essential_count=1, total_count=1000), nodes=(node("a", cores=1),)) is None


@pytest.mark.parametrize("ssd", ["a", "b"])
def test_component_bound_to_one_node_does_not_exclude_others(ssd: str) -> None:
    nodes = tuple(node(name, cores=8, labels={"disk": "ssd"} if name == ssd else {}) for name in "ab")
    labelled, large = component("x", cores=4, labels=(("disk", "ssd"),)), component("y", cores=8)
    assert why_never(labelled, large, nodes=nodes) is None


def test_application_that_only_a_search_can_place_is_accepted() -> None:
    nodes = tuple(node(name, memory_gib=10) for name in "abc")
    sizes = [component(f"c{i}", cores=0, memory_gib=size) for i, size in enumerate((5, 5, 4, 4, 3, 3, 3, 3))]
    assert why_never(*sizes, nodes=nodes) is None
    assert why_never(*sizes, component("more", cores=0, memory_gib=1), nodes=nodes) is not None
