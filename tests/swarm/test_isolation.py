"""What a service can see and do: its own execution, and little else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.support.swarm_backend import SwarmHarness, peers, server, small
from zoe_lib.domain.applications.application import Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.storage import InputRead
from zoe_master.backends.base import ObservedState, ServiceStorage


def run(harness: SwarmHarness, script: str, service: str = "e.c.0.1", **changes: object) -> list[str]:
    node = str(changes.pop("node", "node-1"))
    among = changes.pop("peers", peers(service))
    harness.start(small(script, name=service.split(".")[1], **changes), service, node, peers=among)
    harness.reach(service, ObservedState.ENDED)
    return harness.output(service).splitlines()


def test_services_of_one_execution_find_each_other_by_name_across_nodes(harness: SwarmHarness) -> None:
    both = peers("e.web.0.1", "e.c.0.1")
    harness.start(server(name="web"), "e.web.0.1", "node-2", peers=both)
    harness.reach("e.web.0.1", ObservedState.READY)
    # A network that is new to a node may take some seconds until packets from another one come through.
    ask = "nc -w 2 {host:web} 8080 < /dev/null 2> /dev/null && echo reached && break"
    told = run(harness, f"for n in $(seq 30); do {ask}; sleep 1; done; hostname", peers=both)
    assert told == ["reached", "c-0"]


def test_other_executions_are_unreachable(harness: SwarmHarness) -> None:
    harness.reopen()
    closed = SwarmHarness(harness.cluster, publish_ports=False)
    try:
        closed.start(server(name="web"), "a.web.0.1", "node-1", peers=peers("a.web.0.1"))
        closed.reach("a.web.0.1", ObservedState.READY)
        api: Any = closed.cluster.manager.api
        [container] = api.containers(filters={"label": "zoe.execution=a"})
        addresses = [n["IPAddress"] for n in container["NetworkSettings"]["Networks"].values() if n["IPAddress"]]
        bridged = api.inspect_network("docker_gwbridge")["Containers"].values()
        addresses += [end["IPv4Address"].partition("/")[0] for end in bridged]
        asks = [f"nc -w 1 {address} 8080 < /dev/null && echo reached {address}" for address in addresses]
        both = peers("b.c.0.1", "b.d.0.1")
        told = run(closed, "; ".join([*asks, "timeout 3 nslookup web-0 | grep -c 10.214"]), "b.c.0.1", peers=both)
        assert "0" in told
        assert not [line for line in told if "reached" in line]
        assert len(addresses) >= 2
    finally:
        closed.finish()


def test_configuration_of_the_object_store_is_in_files_of_the_user_and_nowhere_else(harness: SwarmHarness) -> None:
    key = "a-key-that-nobody-may-see"
    access = ServiceStorage(
        {"meters": InputRead("meters", "swift2d://zoe-view-v.zoe/data", "v", ("id", "kwh"))},
        files={"core-site.xml": key, "spark-defaults.conf": "spark.a b\n"},
    )
    script = (
        "cd $SPARK_CONF_DIR; cat $HADOOP_CONF_DIR/core-site.xml; echo; stat -c '%a %u %n' *; id -u; "
        "echo {input:meters} {columns:meters}; exec sleep 1000"
    )
    harness.start(small(script), storage=access)
    harness.until(lambda: "swift2d" in harness.output("e.c.0.1"))
    told, one, other, user, read = harness.output("e.c.0.1").splitlines()
    assert told == key
    assert (one, other) == (f"400 {user} core-site.xml", f"400 {user} spark-defaults.conf")
    assert read == "swift2d://zoe-view-v.zoe/data id,kwh"
    api: Any = harness.cluster.manager.api
    [container] = api.containers(filters={"label": "zoe.execution=e"})
    seen = [api.inspect_container(container["Id"]), *api.services(), *api.tasks(), *api.secrets()]
    assert key not in json.dumps(seen)


def test_executions_without_ports_do_not_reach_each_other(harness: SwarmHarness) -> None:
    """Each has a network, or they would meet on the engine's default bridge, where containers talk to each other."""
    harness.start(small("while :; do echo hello | nc -l -p 8080; done", name="lone"), "a.lone.0.1")
    harness.reach("a.lone.0.1", ObservedState.READY)
    assert harness.things()["secrets"] == []
    api: Any = harness.cluster.manager.api
    [container] = api.containers(filters={"label": "zoe.execution=a"})
    networks = container["NetworkSettings"]["Networks"]
    assert "bridge" not in networks
    addresses = [n["IPAddress"] for n in networks.values() if n["IPAddress"]]
    bridged = api.inspect_network("docker_gwbridge")["Containers"].values()
    addresses += [end["IPv4Address"].partition("/")[0] for end in bridged]
    told = run(
        harness,
        "; ".join(f"nc -w 1 {address} 8080 < /dev/null 2>&1" for address in addresses) + "; echo asked",
        "b.c.0.1",
    )
    assert len(addresses) >= 2
    assert told[-1] == "asked"
    assert "hello" not in told


def test_an_execution_has_a_secret_that_is_in_no_label_and_no_variable(harness: SwarmHarness) -> None:
    both = peers("e.c.0.1", "e.d.0.1")
    show = "od -An -tx1 -v /run/secrets/zoe-execution | tr -d ' \\n'; echo; ls -ln /run/secrets; env"
    first, *rest = run(harness, show, "e.c.0.1", peers=both)
    second, *_ = run(harness, show, "e.d.0.1", peers=both, node="node-2")
    assert first == second
    assert len(first) == 64
    assert rest[0].startswith("-r--------") or rest[1].startswith("-r--------")
    api: Any = harness.cluster.manager.api
    assert first not in json.dumps([api.services(), api.tasks(), rest])


def test_a_component_has_no_privileges(harness: SwarmHarness) -> None:
    told = run(harness, "id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; tr '\\0' ' ' < /proc/1/cmdline")
    assert told[0] == "65534"
    assert [line.split()[1] for line in told[1:4]] == ["0" * 16, "0" * 16, "1"]
    assert "docker-init" in told[4]


def test_a_tenant_has_its_own_user(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, tenant_users={"tenant": "5000:6000"})
    assert run(harness, "id -u; id -g") == ["5000", "6000"]


def test_a_read_only_root_leaves_scratch_to_write(harness: SwarmHarness) -> None:
    told = run(harness, "touch /x 2>/dev/null || echo closed; touch {scratch}/x && echo open", read_only_root=True)
    assert told == ["closed", "open"]


def test_words_of_users_are_not_templates_of_swarm(harness: SwarmHarness) -> None:
    told = run(harness, 'echo "$TEXT"', environment=(("TEXT", "{{{{.Node.Hostname}}}} {{{{"),))
    assert told == ["{{.Node.Hostname}} {{"]


def test_named_volumes_are_a_tenants_own_and_host_paths_need_leave(harness: SwarmHarness) -> None:
    mine = (Volume("/data", name="mine"),)
    write = small("ls -d /data; grep -c ' /data ' /proc/mounts; echo kept > /data/file", volumes=mine)
    harness.start(write)
    harness.reach("e.c.0.1", ObservedState.ENDED)
    assert harness.output("e.c.0.1").splitlines() == ["/data", "1"]
    api: Any = harness.cluster.manager.api
    [volume] = api.volumes()["Volumes"]
    assert volume["Labels"]["zoe.tenant"] == "tenant"
    harness.start(small("cat /data/file; stat -c %u /data", volumes=mine), "f.c.0.1")
    assert harness.reach("f.c.0.1", ObservedState.ENDED).exit_code == 0
    assert harness.output("f.c.0.1").splitlines() == ["kept", "65534"]
    harness.start(small("true", volumes=(Volume("/etc", host_path="/etc"),)), "e.c.1.1")
    refused = harness.reach("e.c.1.1", ObservedState.ENDED)
    assert refused.cause is Cause.START_FAILED
    assert "not on the admin's list" in refused.message
    harness.before["volumes of node-1"] = [volume["Name"]]  # it stays, by its purpose


def test_shared_memory_has_the_size_asked_for(harness: SwarmHarness) -> None:
    told = run(harness, "df -k /dev/shm | tail -1", shm_bytes=8 * 2**20)
    assert told[0].split()[1] == str(8 * 2**10)
