"""Closed nodes: reachable ports are reported, and after the script none remain except allowed ones."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.support import MIB
from tests.support.images import provide
from tests.support.swarm_backend import SwarmHarness, peers, server, small
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from tests.swarm.engine_host import EngineHost
from tests.swarm.test_gateway import ask, begin, gateway
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState

SCRIPT = str(Path(__file__).resolve().parents[2] / "deploy" / "close-nodes.sh")
METADATA = "169.254.169.254"
STORE, OTHER = 8080, 8081


def network_of(swarm: Cluster) -> str:
    return swarm.hosts[0].address.rpartition(".")[0] + ".0/24"


def rules(host: EngineHost) -> list[bytes]:
    """What the firewall of a machine holds; of Docker's own chains only the jumps."""
    return [line for line in host.inside("iptables", "-S").splitlines() if b"ZOE" in line]


@contextmanager
def closed(swarm: Cluster, *further: str) -> Iterator[None]:
    try:
        for host in swarm.hosts:
            host.inside("sh", SCRIPT, "apply", "--network", network_of(swarm), *further)
        yield
    finally:
        for host in swarm.hosts:
            host.inside("sh", SCRIPT, "remove")


@pytest.fixture
def cloud(swarm: Cluster) -> Iterator[None]:
    """Metadata, a store and something else on node-3, to which the other nodes know the way."""
    host = swarm.host("node-3")
    enter = ["nsenter", "-t", str(host.first_pid), "--net"]
    with ExitStack() as stack:
        host.inside("ip", "address", "add", f"{METADATA}/32", "dev", "lo")
        stack.callback(host.inside, "ip", "address", "delete", f"{METADATA}/32", "dev", "lo")
        for other in swarm.hosts[:2]:
            other.inside("ip", "route", "add", METADATA, "via", host.address)
            stack.callback(other.inside, "ip", "route", "delete", METADATA)
        for port in (80, STORE, OTHER):
            listening = subprocess.Popen([*enter, "busybox", "nc", "-ll", "-p", str(port), "-e", "echo", "here"])
            stack.callback(listening.wait, 10)
            stack.callback(listening.kill)
        yield


@pytest.fixture(params=["zoe/gateway"])
def looking(request: pytest.FixtureRequest, swarm: Cluster) -> Iterator[SwarmHarness]:
    """Of the two images that look, one has busybox and one bash."""
    if request.param != GATEWAY_IMAGE:
        provide(swarm, request.param)
    made = SwarmHarness(swarm, gateway_image=request.param)
    for node in ("node-1", "node-2", "node-3"):  # an engine makes the bridge for its first container of an overlay
        made.start(small("true"), f"{node}.c.0.1", node)
        made.reach(f"{node}.c.0.1", ObservedState.ENDED)
    made.settings = replace(made.settings, check_closed=True)
    yield made
    made.finish()


def warnings(harness: SwarmHarness) -> dict[str, str]:
    """Return the warnings in `zoe nodes` once every node has reported."""
    harness.reopen()
    harness.until(lambda: len(harness.backend._exposure._warnings) == 3)
    assert all(node.ready for node in harness.backend.nodes())
    return {node.name: node.message for node in harness.backend.nodes()}


def test_open_ports_are_reported_until_the_script_closes_them(
    looking: SwarmHarness, swarm: Cluster, cloud: None
) -> None:
    manager = swarm.manager.address
    before = warnings(looking)
    for node in before:
        assert f"{swarm.host(node).address}:2376" in before[node]
        assert f"{manager}:2377" in before[node]
        assert f"metadata ({METADATA}:80)" in before[node]
    with closed(swarm):
        assert warnings(looking) == {"node-1": "", "node-2": "", "node-3": ""}
    assert all("control ports" in message for message in warnings(looking).values())


@pytest.mark.parametrize("looking", [GATEWAY_IMAGE, pytest.param("zoe/gateway", marks=needs_time)], indirect=True)
def test_ports_open_on_the_device_bridge_are_reported(looking: SwarmHarness, swarm: Cluster) -> None:
    with closed(swarm):
        for host in swarm.hosts:
            for rule in host.inside("iptables", "-S").decode().splitlines():
                if rule.startswith("-A") and "-i docker0" in rule and "ZOE" in rule:
                    host.inside("iptables", *rule.replace("-A", "-D", 1).split())
        for name, message in warnings(looking).items():
            assert message.startswith("containers on this node on docker0 reach control ports"), (name, message)
            assert "docker_gwbridge" not in message
            assert f"{swarm.host(name).address}:2376" in message


def test_the_look_can_be_left_out(harness: SwarmHarness) -> None:
    harness.until(lambda: all(node.ready for node in harness.backend.nodes()))
    assert harness.backend._exposure._next_s == {}


def test_an_execution_reaches_what_was_allowed_and_nothing_else_of_the_nodes(
    harness: SwarmHarness, swarm: Cluster, cloud: None
) -> None:
    there = swarm.host("node-3").address
    goals = [f"{there} {STORE}", f"{there} {OTHER}", f"{METADATA} 80", f"{there} 2376"]
    tries = "; ".join(f"nc -w 2 {goal} -e true 2> /dev/null && echo {goal}" for goal in goals) + "; echo asked"

    def reached(service: str, node: str = "node-1", **changes: object) -> list[str]:
        harness.start(small(tries, **changes), service, node)
        harness.reach(service, ObservedState.ENDED)
        return harness.output(service).splitlines()

    assert reached("e.c.0.1") == [*goals, "asked"]
    with closed(swarm, "--allow", f"{there}:{STORE}"):
        assert reached("f.c.0.1") == [goals[0], "asked"]
        # One with devices is on another bridge of its node.
        assert reached("g.c.0.1", "node-2", reservation=Resources(50, 32 * MIB, {"gpu": 1})) == [goals[0], "asked"]


def test_gateways_and_overlay_networks_go_on_on_closed_nodes(harness: SwarmHarness, swarm: Cluster) -> None:
    harness.settings = replace(harness.settings, publish_ports=False)
    with closed(swarm):
        address = gateway(harness, begin(harness))
        assert ask(address)[0] == 200
        both = peers("f.web.0.1", "f.c.0.1")
        harness.start(server(name="web"), "f.web.0.1", "node-2", peers=both)
        harness.reach("f.web.0.1", ObservedState.READY)
        question = "nc -w 2 {host:web} 8080 < /dev/null 2> /dev/null && echo reached && break"
        harness.start(small(f"for n in $(seq 30); do {question}; sleep 1; done"), "f.c.0.1", peers=both)
        harness.reach("f.c.0.1", ObservedState.ENDED)
        assert harness.output("f.c.0.1") == "reached\n"


def test_the_script_may_be_run_again_and_leaves_nothing(swarm: Cluster) -> None:
    host = swarm.host("node-2")
    before = host.inside("iptables-save", "-t", "filter")
    try:
        host.inside("sh", SCRIPT, "apply", "--network", network_of(swarm), "--allow", "10.9.9.9:80")
        once = rules(host)
        host.inside("sh", SCRIPT, "apply", "--network", network_of(swarm), "--allow", "10.9.9.9:80")
        assert rules(host) == once
        host.inside("sh", SCRIPT, "apply", "--network", "10.77.0.0/16", "--network", "fd77::/64")
        assert not [line for line in rules(host) if b"10.9.9.9" in line or network_of(swarm).encode() in line]
        assert any(b"10.77.0.0/16" in line for line in rules(host))
        refused = subprocess.run(["sh", SCRIPT, "apply", "--network", "$(id)"], capture_output=True, check=False)
        assert refused.returncode == 2
    finally:
        host.inside("sh", SCRIPT, "remove")
        host.inside("sh", SCRIPT, "remove")
    kept = [line for line in host.inside("iptables-save", "-t", "filter").splitlines() if line[:1] in b"-:*"]
    assert [line.partition(b"[")[0] for line in kept] == [
        line.partition(b"[")[0] for line in before.splitlines() if line[:1] in b"-:*"
    ]


def test_the_rules_outlive_the_engine_and_come_before_its_own(swarm: Cluster) -> None:
    host = swarm.host("node-3")
    try:
        host.inside("sh", SCRIPT, "apply", "--network", network_of(swarm))
        before = rules(host)
        host.kill_engine()
        swarm.restart_engine("node-3")
        swarm.await_node("node-3", "ready")
        assert rules(host) == before
        jumps = [line for line in host.inside("iptables", "-S", "FORWARD").splitlines() if line.startswith(b"-A")]
        assert jumps[0] == b"-A FORWARD -j DOCKER-USER"
    finally:
        host.inside("sh", SCRIPT, "remove")
