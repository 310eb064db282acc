"""What goes wrong on a swarm, done to it on purpose."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.support.swarm_backend import SwarmHarness, peers, server, small
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import Cluster
from tests.swarm.engine_host import wait_for
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, ImageState, ObservedState
from zoe_master.backends.engine.daemon.foreign import cpu_seconds
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.engine.spec.naming.names import attempt_name, group_name

GIB = 2**30
SERVICE = "e.c.0.1"


def node_of(harness: SwarmHarness, name: str) -> Any:
    return next(node for node in harness.backend.nodes() if node.name == name)


@needs_time
def test_a_killed_engine_loses_its_services_once_it_is_fenced(
    harness: SwarmHarness, swarm: Cluster, engine_3: str
) -> None:
    harness.reopen()
    switch = harness.base / "fence"
    switch.write_text(f"#!/bin/sh\n[ -e {harness.base}/$1.off ] || {{ echo no power switch >&2; exit 4; }}\n")
    switch.chmod(0o755)
    harness.settings = replace(harness.settings, fence_command=switch, fence_retry_s=0.5)
    harness.start(small("exec sleep 1000"), SERVICE, engine_3)
    harness.start(small("exec sleep 1000"), "e.c.1.1", "node-1")
    harness.reach(SERVICE, ObservedState.READY)
    kept = harness.reach("e.c.1.1", ObservedState.READY)
    swarm.host(engine_3).kill_engine()
    harness.until(lambda: "exited with 4: no power switch" in node_of(harness, engine_3).message)
    assert harness.reach(SERVICE, ObservedState.READY)
    (harness.base / f"{engine_3}.off").touch()
    lost = harness.reach(SERVICE, ObservedState.LOST)
    assert "node-3 is down" in lost.message
    assert not node_of(harness, engine_3).ready
    assert harness.seen("e.c.1.1") == kept
    harness.backend.forget([SERVICE])
    swarm.restart_engine(engine_3)
    swarm.await_node(engine_3, "ready")
    api: Any = swarm.host(engine_3).api
    wait_for(lambda: not api.containers(all=True), lambda: str(api.containers(all=True)))


def test_an_engine_that_comes_back_at_once_tells_what_ended_meanwhile(
    harness: SwarmHarness, swarm: Cluster, engine_3: str
) -> None:
    harness.start(small("exec sleep 1000"), SERVICE, engine_3)
    harness.reach(SERVICE, ObservedState.READY)
    swarm.host(engine_3).kill_engine()
    swarm.restart_engine(engine_3)
    ended = harness.reach(SERVICE, ObservedState.ENDED)
    assert ended.cause in (Cause.KILLED, Cause.STOPPED)


def test_output_is_kept_of_what_ends_while_its_engine_is_silent(harness: SwarmHarness, swarm: Cluster) -> None:
    host = swarm.host("node-2")
    refused = ["INPUT", "-p", "tcp", "--dport", "2376", "-j", "REJECT", "--reject-with", "tcp-reset"]
    harness.start(small("echo before; sleep 4; echo after"), SERVICE, "node-2")
    harness.reach(SERVICE, ObservedState.READY)
    host.inside("iptables", "-I", *refused)
    try:
        # Existing connections are refused as well.
        harness.until(lambda: not node_of(harness, "node-2").ready)
        assert harness.reach(SERVICE, ObservedState.ENDED).exit_code == 0
        harness.backend.forget([SERVICE])
        time.sleep(2.0)
    finally:
        host.inside("iptables", "-D", *refused)
    harness.until(lambda: harness.output(SERVICE) == "before\nafter\n")


@needs_time
def test_a_parted_node_loses_its_services(harness: SwarmHarness, swarm: Cluster, engine_3: str) -> None:
    harness.start(small("exec sleep 1000"), SERVICE, engine_3)
    harness.reach(SERVICE, ObservedState.READY)
    swarm.host(engine_3).unplug()
    harness.until(lambda: "cannot reach its engine" in node_of(harness, engine_3).message)
    assert not node_of(harness, engine_3).ready
    # Only the managers say that a node is down; they may do so before the engine has been silent for long enough.
    seen = harness.seen(SERVICE)
    assert seen.state is ObservedState.READY or "node-3 is down" in seen.message
    assert "node-3 is down" in harness.reach(SERVICE, ObservedState.LOST).message


def test_draining_a_node_stops_its_services_as_the_platforms_doing(harness: SwarmHarness, swarm: Cluster) -> None:
    api: Any = swarm.manager.api
    harness.start(small("exec sleep 1000"), SERVICE, "node-2")
    harness.reach(SERVICE, ObservedState.READY)
    node = next(n for n in api.nodes() if n["Description"]["Hostname"] == "node-2")
    try:
        api.update_node(node["ID"], node["Version"]["Index"], {**node["Spec"], "Availability": "drain"})
        assert harness.reach(SERVICE, ObservedState.ENDED).cause is Cause.STOPPED
        harness.until(lambda: not node_of(harness, "node-2").ready)
    finally:
        now = api.inspect_node(node["ID"])
        api.update_node(node["ID"], now["Version"]["Index"], {**now["Spec"], "Availability": "active"})
    harness.until(lambda: node_of(harness, "node-2").ready)


@pytest.mark.parametrize("replicas", [[3, 1], [3, 0]])
def test_somebody_scales_a_swarm_service(harness: SwarmHarness, swarm: Cluster, replicas: list[int]) -> None:
    """Tasks that are no service of ours are ended, the node's events continue, and an end is reported once."""
    harness.start(small("exec sleep 1000"), SERVICE, "node-2")
    harness.reach(SERVICE, ObservedState.READY)
    name, node = group_name(harness.settings.installation, "c", [SERVICE]), swarm.host("node-2")
    for number in replicas:
        scale(swarm.manager.api, name, number)
        if number:
            wait_for(partial(begun, swarm.manager.api, name, number), lambda: name)
            wait_for(lambda: len(running(node.api)) == 1, lambda: str(running(node.api)))
    if replicas[-1] == 0:
        assert harness.reach(SERVICE, ObservedState.ENDED).cause in (Cause.STOPPED, Cause.KILLED)
    other = "e.c.1.1"
    harness.start(small("exec sleep 1000"), other, "node-2")
    harness.reach(other, ObservedState.READY)
    harness.backend.stop([SERVICE, other])
    assert harness.reach(other, ObservedState.ENDED).cause is Cause.STOPPED
    harness.reach(SERVICE, ObservedState.ENDED)


def scale(api: Any, name: str, replicas: int) -> None:
    """What `docker service scale` does."""
    service = api.inspect_service(name)
    spec = {**service["Spec"], "Mode": {"Replicated": {"Replicas": replicas}}}
    api._post_json(
        api._url("/services/{0}/update", service["ID"]), data=spec, params={"version": service["Version"]["Index"]}
    ).raise_for_status()


def begun(api: Any, name: str, number: int) -> bool:
    """Whether that many tasks have been started, ended ones included."""
    states = [task["Status"]["State"] for task in api.tasks(filters={"service": name})]
    return sum(state in ("running", "complete", "failed", "shutdown") for state in states) >= number


def running(api: Any) -> list[str]:
    return [container["Names"][0] for container in api.containers()]


def test_an_image_that_is_on_no_node_is_told_and_cannot_be_started(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, images=("**",))
    status = harness.backend.prepare("absent:1")
    assert status.state is ImageState.UNAVAILABLE
    assert "no node has image" in status.message
    harness.start(replace(small("true"), image="absent:1"))
    ended = harness.reach(SERVICE, ObservedState.ENDED)
    assert (ended.cause, ended.exit_code) == (Cause.IMAGE_UNAVAILABLE, None)
    assert "node-1" in ended.message


def test_a_pull_that_fails_is_told_in_the_engines_words(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, images=("**",), pull_images=True)
    name = "127.0.0.1:1/absent:1"
    states = [harness.backend.prepare(name).state]
    harness.until(lambda: harness.backend.prepare(name).state is ImageState.UNAVAILABLE)
    assert states == [ImageState.PULLING]
    status = harness.backend.prepare(name)
    assert "cannot be pulled" in status.message
    assert "127.0.0.1" not in status.message.replace(name, "")
    assert "node-2" in status.detail
    assert "refused" in status.detail


def test_foreign_containers_are_taken_off_their_node(harness: SwarmHarness, swarm: Cluster) -> None:
    api: Any = swarm.host("node-2").api
    before = node_of(harness, "node-2")
    limits = api.create_host_config(mem_limit=2 * GIB, nano_cpus=500_000_000)
    made = api.create_container("shell", ["sleep", "1000"], host_config=limits)
    try:
        api.start(made)
        harness.until(lambda: node_of(harness, "node-2").foreign == Resources(500, 2 * GIB))
        assert node_of(harness, "node-2").usable.memory_bytes == before.usable.memory_bytes - 2 * GIB
        assert node_of(harness, "node-2").containers == before.containers + 1
    finally:
        api.remove_container(made, force=True)
    harness.until(lambda: node_of(harness, "node-2") == before)


def test_a_foreign_container_without_limits_counts_by_the_cores_that_it_uses(
    harness: SwarmHarness, swarm: Cluster
) -> None:
    """Each reading is between the least and the most that the kernel counted over two seconds or more just before."""
    api: Any = swarm.host("node-2").api
    made = api.create_container("shell", ["sh", "-c", "while :; do :; done"])
    counted: list[tuple[float, float]] = []
    readings = []
    try:
        api.start(made)
        harness.until(lambda: node_of(harness, "node-2").foreign.cores_milli > 0)
        while len(counted) < 14:
            counted.append((time.monotonic(), cpu_seconds(api.stats(made, stream=False, one_shot=True))))
            if len(counted) > 6:
                readings.append(node_of(harness, "node-2").foreign.cores_milli)
            harness.waker.wait(0.5)
        rates = [
            (used - before) / (end_s - began_s) * 1000
            for place, (end_s, used) in enumerate(counted)
            for began_s, before in counted[:place]
            if end_s - began_s >= 2
        ]
        assert rates
        assert all(min(rates) - 110 <= reading <= max(rates) + 110 for reading in readings), (readings, rates)
        api.pause(made)
        harness.until(lambda: node_of(harness, "node-2").foreign.cores_milli == 0)
        api.unpause(made)
    finally:
        api.remove_container(made, force=True)
    harness.until(lambda: node_of(harness, "node-2").foreign.cores_milli == 0)


def test_devices_are_swarms_generic_resources(harness: SwarmHarness) -> None:
    assert node_of(harness, "node-2").total.devices == {"gpu": 2}
    made = small("env | grep GPU; exec sleep 1000", reservation=Resources(50, 32 * 2**20, {"gpu": 2}))
    harness.start(made, SERVICE, "node-2")
    harness.reach(SERVICE, ObservedState.READY)
    harness.until(lambda: "DOCKER_RESOURCE_GPU" in harness.output(SERVICE))


def test_service_without_room_in_swarm_fails_with_the_reason(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, place_timeout_s=1.0)
    harness.start(small("true", reservation=Resources(50, 32 * 2**20, {"gpu": 1})))
    ended = harness.reach(SERVICE, ObservedState.ENDED)
    assert ended.cause is Cause.ENGINE_FAULT  # Zoe had counted the room as free, so it is tried again
    assert "no room on node-1" in ended.message


def test_a_command_that_is_not_there_fails_in_words(harness: SwarmHarness) -> None:
    harness.start(replace(small(""), command=("/no/such/program",)))
    ended = harness.reach(SERVICE, ObservedState.ENDED)
    assert (ended.cause, ended.exit_code) == (Cause.EXITED, 127)  # as a shell would tell it
    assert "No such file" in harness.output(SERVICE)


def test_a_service_removed_by_somebody_else_is_told(harness: SwarmHarness, swarm: Cluster) -> None:
    api: Any = swarm.manager.api
    harness.start(small("exec sleep 1000", stop_grace_s=1.0))
    harness.reach(SERVICE, ObservedState.READY)
    [service] = api.services()
    api.remove_service(service["ID"])
    ended = harness.reach(SERVICE, ObservedState.ENDED)
    assert ended.cause in (Cause.KILLED, Cause.STOPPED)


def test_container_ended_by_hand_counts_as_killed(harness: SwarmHarness, swarm: Cluster) -> None:
    """What ends itself with the same codes has exited, and what uses too much memory is out of it."""
    host: Any = swarm.host("node-2").api
    by_hand = {
        "e.kill.0.1": host.kill,
        "e.stop.0.1": lambda container: host.stop(container, timeout=5),
        "e.remove.0.1": lambda container: host.remove_container(container, force=True),
    }
    for service in by_hand:
        harness.start(small("exec sleep 1000"), service, "node-2")
    by_itself = {"e.own.0.1": "exit 137", "e.term.0.1": "sleep 1; exit 143"}
    for service, script in by_itself.items():
        harness.start(small(script), service, "node-2")
    for service, act in by_hand.items():
        container = harness.reach(service, ObservedState.READY).backend_id.split()[0].removeprefix("container:")
        act(container)
        ended = harness.reach(service, ObservedState.ENDED)
        assert (ended.cause, ended.exit_code) == (Cause.KILLED, 143 if "stop" in service else 137)
        assert "its container on node-2 was ended from outside" in ended.message
    for service in by_itself:
        ended = harness.reach(service, ObservedState.ENDED)
        # An engine too busy to answer leaves only the managers' report, in which 143 may be its own stop.
        unknown = service.startswith("e.term") and "its engine did not answer" in ended.message
        assert ended.cause is (Cause.KILLED if unknown else Cause.EXITED)


def test_names_that_others_hold_are_told_and_those_of_a_crash_are_taken_over(
    harness: SwarmHarness, swarm: Cluster
) -> None:
    api: Any = swarm.manager.api
    name = group_name("zoe", "c", [SERVICE])
    task = {"ContainerSpec": {"Image": "shell", "Args": ["true"]}, "RestartPolicy": {"Condition": "none"}}
    stranger = api.create_service(task, name=name)
    tags = {"zoe.installation": "zoe", "zoe.execution": "f", "zoe.generation": "1"}
    api.create_network(attempt_name("zoe", Attempt("f", 1)), "overlay", labels=tags)
    try:
        harness.start(small("true"))
        ended = harness.reach(SERVICE, ObservedState.ENDED)
        assert ended.cause is Cause.START_FAILED
        assert name in ended.message
        harness.start(server(), "f.c.0.1", peers=peers("f.c.0.1"))
        harness.reach("f.c.0.1", ObservedState.READY)
    finally:
        api.remove_service(stranger["ID"])


def test_leftovers_of_a_crash_are_removed_by_the_next_backend(harness: SwarmHarness, swarm: Cluster) -> None:
    api: Any = swarm.manager.api
    tags = {"zoe.installation": "zoe", "zoe.execution": "gone"}
    api.create_network("zoe-left", "overlay", labels=tags)
    api.create_secret("zoe-left", b"x", labels=tags)
    assert list(harness.backend.observe()) == []
    harness.until(lambda: harness.things() == harness.before)


def test_without_any_manager_there_is_no_backend(harness: SwarmHarness) -> None:
    harness.reopen()
    managers = harness.settings.managers
    harness.settings = replace(harness.settings, managers=("tcp://127.0.0.1:1",))
    with pytest.raises(BackendError, match="no manager"):
        _ = harness.backend
    harness.settings = replace(harness.settings, managers=("tcp://127.0.0.1:1", *managers))
    assert harness.backend.nodes()
