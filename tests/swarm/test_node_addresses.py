from __future__ import annotations

from tests.support.swarm_backend import SwarmHarness
from tests.swarm.cluster import Cluster


def test_nodes_have_the_addresses_by_which_others_reach_them(harness: SwarmHarness, swarm: Cluster) -> None:
    """Managers and workers: an object store on these hosts knows them so."""
    told = {node.name: node.addresses for node in harness.backend.nodes()}
    assert told == {host.name: (host.address,) for host in swarm.hosts}
