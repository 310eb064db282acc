"""Reachable targets of containers as text, and the addresses that are probed."""

from __future__ import annotations

from typing import Any

from zoe_master.backends.swarm.manager.exposure import _ADDRESSES_MAX, _addresses, _words


def test_open_targets_are_described_by_kind() -> None:
    assert _words({}) == ""
    assert _words({"docker_gwbridge": frozenset(), "docker0": frozenset()}) == ""
    reached = frozenset(["10.0.0.1 2376", "fd00:ec2::254 80", "fd00::1 7946"])
    told = _words({"docker_gwbridge": reached, "docker0": reached})
    assert told.startswith(
        "containers on this node reach control ports (10.0.0.1:2376, [fd00::1]:7946) and metadata ([fd00:ec2"
    )
    assert "deploy/close-nodes.sh" in told


def test_a_bridge_that_alone_is_open_is_named() -> None:
    told = _words({"docker_gwbridge": frozenset(), "docker0": frozenset(["10.0.0.1 2376"])})
    assert told.startswith("containers on this node on docker0 reach control ports (10.0.0.1:2376): ")


class FakeEngine:
    """Answers like an engine of a swarm with many managers."""

    def __init__(self, managers: int) -> None:
        self.managers = managers

    def info(self) -> Any:
        remote = [{"Addr": f"10.0.0.{number}:2377"} for number in range(1, self.managers + 1)]
        return {"Swarm": {"NodeAddr": "10.0.0.9", "RemoteManagers": remote or None}}

    def inspect_network(self, _name: str) -> Any:
        return {"IPAM": {"Config": [{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}, {"Subnet": "fd00::/64"}]}}


def test_the_node_its_bridge_and_the_managers_are_tried_and_not_too_many() -> None:
    assert _addresses(FakeEngine(0), "bridge") == ["10.0.0.9", "172.18.0.1"]
    assert _addresses(FakeEngine(2), "bridge") == ["10.0.0.9", "172.18.0.1", "10.0.0.1", "10.0.0.2"]
    assert len(_addresses(FakeEngine(50), "bridge")) == _ADDRESSES_MAX
