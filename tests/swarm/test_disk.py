"""A container that fills its node's disk: it fails, the others and the node stay, and the room comes back."""

from __future__ import annotations

from tests.support.swarm_backend import SwarmHarness, small
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import Cluster
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState

MIB = 2**20
FILL = "dd if=/dev/zero of=/tmp/large bs=1M; exit 7"


def free_bytes(swarm: Cluster, node: str) -> int:
    host = swarm.host(node)
    shown = host.inside("df", "-k", "--output=avail", str(host.base / "data")).split()
    return int(shown[-1]) * 1024


@needs_time
def test_a_full_disk_ends_who_fills_it_and_nobody_else(harness: SwarmHarness, swarm: Cluster) -> None:
    before = free_bytes(swarm, "node-3")
    harness.start(small("while :; do echo beat; sleep 0.2; done"), "e.c.0.1", "node-3")
    kept = harness.reach("e.c.0.1", ObservedState.READY)
    harness.start(small(FILL), "f.c.0.1", "node-3")
    ended = harness.reach("f.c.0.1", ObservedState.ENDED)
    assert (ended.cause, ended.exit_code) == (Cause.EXITED, 7)
    assert free_bytes(swarm, "node-3") < 64 * MIB
    assert harness.seen("e.c.0.1") == kept
    node = next(node for node in harness.backend.nodes() if node.name == "node-3")
    assert node.ready
    harness.backend.forget(["f.c.0.1"])
    harness.until(lambda: free_bytes(swarm, "node-3") > before - 64 * MIB)
    harness.start(small("echo again"), "g.c.0.1", "node-3")
    harness.reach("g.c.0.1", ObservedState.ENDED)
    harness.until(lambda: harness.output("g.c.0.1") == "again\n")
    assert harness.seen("e.c.0.1") == kept
