"""Three managers: the leader is lost and comes back; in the long form another one is restarted; work goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.swarm import need_swarm
from tests.support.swarm_backend import SwarmHarness, small
from tests.support.swarm_installation import LONG
from tests.swarm.cluster import Cluster
from tests.swarm.engine_host import wait_for
from zoe_master.backends.base import ObservedState

NODES = ("node-1", "node-2", "node-3")


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


def test_while_the_quorum_is_away_no_node_is_ready(trio: Cluster) -> None:
    """Two of three stand still: the third can neither create nor list, and the silent ones are found all the same."""
    harness = SwarmHarness(trio, engine_timeout_s=2.0)
    try:
        harness.start(small("exec sleep 1000"), "e.c.0.1", "node-1")
        kept = harness.reach("e.c.0.1", ObservedState.READY)
        paused = [trio.host(name) for name in NODES[1:]]
        for host in paused:
            host.pause_engine()
        try:
            harness.start(small("exec sleep 1000"), "f.c.0.1", "node-1")
            harness.start(small("exec sleep 1000"), "g.c.0.1", "node-1")
            harness.until(lambda: not any(node.ready for node in harness.backend.nodes()), 15.0)
            harness.until(lambda: unreached(harness) == {"node-2", "node-3"}, 15.0)
            assert all("managers do not answer" in node.message for node in harness.backend.nodes())
            assert harness.seen("e.c.0.1") == kept
        finally:
            for host in paused:
                host.resume_engine()
        harness.reach("f.c.0.1", ObservedState.READY)
        harness.reach("g.c.0.1", ObservedState.READY)
        harness.until(lambda: all(node.ready for node in harness.backend.nodes()))
    finally:
        harness.finish()


def unreached(harness: SwarmHarness) -> set[str]:
    return {node.name for node in harness.backend.nodes() if "cannot reach its engine" in node.message}
