"""Three managers: the leader is lost and comes back; in the long form another one is restarted; work goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.support.swarm import need_swarm
from tests.support.swarm_backend import SwarmHarness, small
from tests.support.swarm_installation import LONG
from tests.swarm.cluster import Cluster
from tests.swarm.engine_host import EngineHost, wait_for
from zoe_lib.domain.cluster.cluster import Node
from zoe_master.backends.base import ObservedState

NODES = ("node-1", "node-2", "node-3")
WITHIN_S = 5.0


@pytest.fixture(scope="module")
def trio() -> Iterator[Cluster]:
    need_swarm()
    cluster = Cluster(NODES, managers=3)
    yield cluster
    cluster.remove()


def leader(cluster: Cluster) -> str:
    nodes = cluster.manager.api.nodes()
    return str(next(n["Description"]["Hostname"] for n in nodes if n["ManagerStatus"].get("Leader")))


def test_work_goes_on_when_the_leader_is_lost_and_when_another_manager_is_restarted(trio: Cluster) -> None:
    harness = SwarmHarness(trio)
    try:
        first = leader(trio)
        others = [name for name in NODES if name != first]
        harness.start(small("exec sleep 1000"), "e.c.0.1", others[0])
        kept = harness.reach("e.c.0.1", ObservedState.READY)
        trio.host(first).kill_engine()
        wait_for(lambda: leader(trio) in others, lambda: str(trio.manager.api.nodes()))
        harness.start(small("echo done; exit 3"), "f.c.0.1", others[1])
        ended = harness.reach("f.c.0.1", ObservedState.ENDED)
        assert ended.exit_code == 3
        harness.until(lambda: harness.output("f.c.0.1") == "done\n")
        assert harness.seen("e.c.0.1") == kept
        trio.restart_engine(first)
        trio.await_node(first, "ready")
        harness.until(lambda: all(node.ready for node in harness.backend.nodes()))
        if not LONG:
            return
        again = next(name for name in others if name != leader(trio))
        trio.host(again).kill_engine()
        trio.restart_engine(again)
        trio.await_node(again, "ready")
        harness.start(small("exec sleep 1000"), "g.c.0.1", first)
        harness.reach("g.c.0.1", ObservedState.READY)
        harness.until(lambda: all(node.ready for node in harness.backend.nodes()))
    finally:
        harness.finish()


@pytest.mark.parametrize("way", ["killed", "paused"])
def test_while_the_quorum_is_away_no_node_is_ready(trio: Cluster, way: str) -> None:
    """The leader is left alone: it lists everything from memory for ten seconds, and can change nothing."""
    harness = SwarmHarness(trio)
    last = leader(trio)
    lost = [trio.host(name) for name in NODES if name != last]
    away, back = {
        "killed": (EngineHost.kill_engine, lambda host: trio.restart_engine(host.name)),
        "paused": (EngineHost.pause_engine, EngineHost.resume_engine),
    }[way]
    try:
        harness.start(small("exec sleep 1000"), "e.c.0.1", last)
        kept = harness.reach("e.c.0.1", ObservedState.READY)
        for host in lost:
            away(host)
        try:
            harness.until(lambda: not any(node.ready for node in harness.backend.nodes()), WITHIN_S)
            harness.start(small("exec sleep 1000"), "f.c.0.1", last)
            harness.until(lambda: "Swarm cannot take it: " in message_of(harness, "f.c.0.1"), WITHIN_S)
            # Also after the leader has stepped down, and all this time without a ready node.
            harness.until(lambda: all("do not answer" in node.message for node in not_ready(harness)), 20.0)
            assert harness.seen("e.c.0.1") == kept
        finally:
            for host in lost:
                back(host)
        harness.reach("f.c.0.1", ObservedState.READY)
        assert message_of(harness, "f.c.0.1") == ""
        harness.until(lambda: all(node.ready for node in harness.backend.nodes()))
    finally:
        harness.finish()


def not_ready(harness: SwarmHarness) -> Sequence[Node]:
    nodes = harness.backend.nodes()
    assert not any(node.ready for node in nodes), nodes
    return nodes


def message_of(harness: SwarmHarness, service: str) -> str:
    seen = harness.seen(service)
    return "" if seen is None else seen.message
