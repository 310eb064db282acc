from __future__ import annotations

from collections.abc import Mapping

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import AchievedBandwidth
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.resources import Resources
from zoe_master.storage.path_uses import PathUses
from zoe_master.storage.reconciler import InlineReconciler
from zoe_master.storage.slo_reconciler import DesiredSlos

MB = 10**6
POLICY = Policy(weighers={"storage_headroom": 1.0})


def node(name: str, *addresses: str, path: int = 0) -> Node:
    labels = {"storage_bytes_per_s": str(path)} if path else {}
    return Node(name, Resources(1000, 2**30), labels=labels, addresses=addresses)


def uses(told: Mapping[str, AchievedBandwidth] | None, *nodes: Node, policy: Policy = POLICY) -> Mapping[str, PathUse]:
    return looking(told)[0].look(nodes, policy)


def looking(told: Mapping[str, AchievedBandwidth] | None) -> tuple[PathUses, SimulatedController, InlineReconciler]:
    controller = SimulatedController(Capacity(100 * MB, {"disk": 100 * MB}))
    controller.by_address = told
    reconciler = InlineReconciler(controller)
    reconciler.set_desired(DesiredSlos())
    return PathUses(reconciler), controller, reconciler


def test_a_node_moves_what_is_moved_to_and_from_its_addresses_against_its_label() -> None:
    told = {
        "10.0.0.1": AchievedBandwidth(30 * MB, 10 * MB),
        "::ffff:192.168.0.1": AchievedBandwidth(0.0, 4 * MB),
        "10.9.9.9": AchievedBandwidth(9, 9),
    }
    nodes = (node("a", "10.0.0.1", "192.168.0.1", path=160 * MB), node("b", "10.0.0.2", path=80 * MB))
    assert uses(told, *nodes) == {"a": PathUse(50 * MB, 160 * MB), "b": PathUse(0, 80 * MB)}  # in steps of a 16th


def test_without_a_label_a_path_is_as_wide_as_the_most_that_was_measured_on_any_such_node() -> None:
    paths, controller, reconciler = looking(
        {"10.0.0.1": AchievedBandwidth(60 * MB, 0.0), "10.0.0.3": AchievedBandwidth(500 * MB, 0.0)}
    )
    nodes = (node("a", "10.0.0.1"), node("b", "10.0.0.2"), node("c", "10.0.0.3", path=1000 * MB))
    width = 2**26  # the next power of two
    assert {name: use.width for name, use in paths.look(nodes, POLICY).items()} == {"a": width, "b": width, "c": 10**9}
    controller.by_address = {"10.0.0.2": AchievedBandwidth(5 * MB, 0.0)}
    reconciler.last_state()
    later = paths.look(nodes, POLICY)
    assert later["a"] == PathUse(0, width)
    assert 5 * MB <= later["b"].moved <= 5 * MB + width // 16
    assert later["b"].width == width


def test_flicker_is_no_news() -> None:
    nodes = (node("a", "10.0.0.1", path=160 * MB),)
    found = [uses({"10.0.0.1": AchievedBandwidth(rate, 0.0)}, *nodes) for rate in (30.5 * MB, 31 * MB, 38.9 * MB)]
    assert found[0] == found[1] == found[2]


def test_an_address_of_several_nodes_is_nobodys() -> None:
    told = {"127.0.0.1": AchievedBandwidth(30 * MB, 0.0)}
    nodes = (node("a", "127.0.0.1", path=160 * MB), node("b", "127.0.0.1", path=160 * MB))
    assert uses(told, *nodes) == {name: PathUse(0, 160 * MB) for name in ("a", "b")}


def test_unreported_or_unwanted_path_use_is_unknown() -> None:
    nodes = (node("a", "10.0.0.1", path=160 * MB),)
    assert uses(None, *nodes) == {}
    assert uses({"10.0.0.1": AchievedBandwidth(1, 1)}, *nodes, policy=Policy()) == {}
    assert PathUses(None).look(nodes, POLICY) == {}
