"""What containers of one engine get: limits, hardening, secrets, workspaces, a network, and names of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.docker.one_engine import NODE
from tests.local.support import MIB, probe
from tests.support.docker_backend import USER, DockerHarness, things
from tests.support.swarm_backend import peers, small
from zoe_lib.domain.applications.application import ComponentSecret, Port, Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, ObservedState, ServiceSecrets, ServiceToken, TerminalRequest
from zoe_master.backends.docker.networks import AttemptNetworks
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.engine.spec.naming.names import group_name
from zoe_master.backends.services.failures import CannotStartError

ENDED, READY = ObservedState.ENDED, ObservedState.READY


def printed(harness: DockerHarness, script: str, start: Mapping[str, object] | None = None, **component: object) -> str:
    """Run it to its end, and return its output."""
    harness.start(small(script, **component), **(start or {}))
    found = harness.reach("e.c.0.1", ENDED)
    assert (found.cause, found.exit_code) == (Cause.EXITED, 0), (found, harness.output("e.c.0.1"))
    return harness.output("e.c.0.1")


def test_a_container_is_hardened_and_within_its_limits(harness: DockerHarness) -> None:
    harness.start(small("exec sleep 1000", cores_limit_milli=300, reservation=Resources(200, 32 * MIB)))
    harness.reach("e.c.0.1", READY)
    api: Any = harness.engine.machine.api
    [entry] = api.containers(filters={"label": labels.SERVICES})
    found = api.inspect_container(entry["Id"])
    host = found["HostConfig"]
    assert (host["NanoCpus"], host["Memory"], host["CpuShares"]) == (300 * 10**6, 32 * MIB, 204)
    assert host["CapDrop"] == ["ALL"] or {"SETUID", "CHOWN", "MKNOD"} <= {*host["CapDrop"]}  # Podman names each
    assert (host["SecurityOpt"], host["Init"]) == (["no-new-privileges"], True)
    assert host["PidsLimit"] == harness.settings.processes_max
    assert found["Config"]["User"] == f"{USER.uid}:{USER.gid}"
    assert not host["PortBindings"]
    assert host["RestartPolicy"]["Name"] == "no"


def test_secrets_are_files_of_their_user_alone_and_go_with_the_container(harness: DockerHarness) -> None:
    shown = printed(
        harness,
        "stat -c '%a %u %g' {secrets}/word {files}/run.sh; cat {secrets}/word; cat $ZOE_API_TOKEN_FILE; {files}/run.sh",
        secrets=(ComponentSecret("password", file="word"),),
        files=(("run.sh", "#!/bin/sh\necho ran\n"),),
        start={"secrets": ServiceSecrets({"password": "hunter2"}), "api": ServiceToken("http://api", "a-token")},
    )
    mine = f"{USER.uid} {USER.gid}"
    assert shown == f"400 {mine}\n500 {mine}\nhunter2a-tokenran\n"
    api: Any = harness.engine.machine.api
    [entry] = api.containers(all=True, filters={"label": labels.SERVICES})
    assert "hunter2" not in json.dumps(api.inspect_container(entry["Id"]))


def test_workspaces_are_mounted_for_their_users_and_a_work_dir_is_made(harness: DockerHarness) -> None:
    shown = printed(harness, "pwd; echo kept > result; id -u; touch {shared}/all; echo $HOME", work_dir="data/new")
    assert shown == f"/workspace/data/new\n{USER.uid}\n/tmp\n"
    own = harness.base / "workspaces" / "tenant" / "ann"
    assert (own / "data" / "new" / "result").read_text() == "kept\n"
    assert (own.stat().st_uid, own.stat().st_mode & 0o777) == (USER.uid, 0o700)
    assert (own.parent / "shared" / "all").stat().st_uid == USER.uid


def test_a_named_volume_is_writable_and_stays(harness: DockerHarness) -> None:
    volume = Volume("/data", name="kept")
    printed(harness, "echo one > /data/a", volumes=(volume,))
    harness.backend.forget(["e.c.0.1"])
    harness.start(small("cat /data/a", volumes=(volume,)), "f.c.0.1")
    harness.reach("f.c.0.1", ENDED)
    assert harness.output("f.c.0.1") == "one\n"
    api: Any = harness.engine.machine.api
    harness.before += [
        f"volume {entry['Name']}" for entry in api.volumes()["Volumes"] if entry["Name"].endswith("-kept")
    ]


def test_host_paths_are_mounted_if_the_admin_allows_them_and_only_root_may_replace_them(
    harness: DockerHarness, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_text("seen\n")
    harness.settings = replace(harness.settings, host_paths_allowed=(tmp_path,))
    assert printed(harness, "cat /in/file", volumes=(Volume("/in", host_path=f"{tmp_path}/in"),)) == "seen\n"
    for number, path in enumerate((f"{tmp_path}/link", f"{tmp_path}/none", "/etc"), 1):
        service = f"f{number}.c.0.1"
        harness.start(small("true", volumes=(Volume("/in", host_path=path),)), service)
        found = harness.reach(service, ENDED)
        assert found.cause is Cause.START_FAILED
        assert path in found.message


def test_services_of_an_execution_find_each_other_and_others_do_not(harness: DockerHarness) -> None:
    port = (Port("main", 8080),)
    pair = peers("e.web.0.1", "e.c.0.1", node=NODE)
    serving = small("mkdir -p /tmp/w; echo hello > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w", name="web")
    harness.start(replace(serving, ports=port, readiness=probe()), "e.web.0.1", peers=pair)
    harness.reach("e.web.0.1", READY)
    address = harness.backend.address("e.web.0.1", "main")
    harness.start(small("wget -q -O - http://{host:web}:8080/"), peers=pair)
    harness.reach("e.c.0.1", ENDED)
    assert harness.output("e.c.0.1") == "hello\n"
    harness.start(small(f"wget -T 2 -q -O - http://{address.host}:8080/ || echo cut off"), "f.c.0.1")
    harness.reach("f.c.0.1", ENDED)
    assert "cut off" in harness.output("f.c.0.1")
    assert "hello" not in harness.output("f.c.0.1")
    shown = harness.engine.machine.inside("busybox", "wget", "-q", "-O", "-", f"http://{address.host}:8080/")
    assert shown == b"hello\n"


def test_services_that_are_alone_share_a_network_and_reach_no_other(harness: DockerHarness) -> None:
    serving = small("mkdir -p /tmp/w; echo hello > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w")
    harness.start(serving, "e.c.0.1")
    harness.reach("e.c.0.1", READY)
    record = harness.backend._registry.get("e.c.0.1")
    assert record is not None
    assert record.container is not None
    url = f"http://{record.container.address}:8080/"

    def serves() -> bool:
        try:
            return harness.engine.machine.inside("busybox", "wget", "-q", "-O", "-", url) == b"hello\n"
        except AssertionError:  # it does not listen yet
            return False

    harness.until(serves)
    harness.start(small(f"wget -T 2 -q -O - {url} || echo cut off"), "f.c.0.1")
    harness.reach("f.c.0.1", ENDED)
    assert "cut off" in harness.output("f.c.0.1")
    assert "hello" not in harness.output("f.c.0.1")
    networks = set(things(harness.engine)) - set(harness.before)
    assert len([name for name in networks if name.startswith("network")]) == 1


def test_a_foreign_container_of_the_same_name_is_left_alone(harness: DockerHarness) -> None:
    api: Any = harness.engine.machine.api
    name = group_name(harness.settings.installation, "c", ["e.c.0.1"])
    api.create_container("shell", ["true"], name=name)
    try:
        harness.start(small("true"))
        found = harness.reach("e.c.0.1", ENDED)
        assert (found.cause, found.message) == (
            Cause.START_FAILED, f"another container has the name {name}; ask the admin to remove it"
        )  # fmt: skip
        assert api.inspect_container(name)["State"]["Status"] == "created"
    finally:
        api.remove_container(name)


def test_a_container_removed_from_outside_is_an_end(harness: DockerHarness) -> None:
    harness.start(small("exec sleep 1000"))
    harness.reach("e.c.0.1", READY)
    api: Any = harness.engine.machine.api
    [entry] = api.containers(filters={"label": labels.SERVICES})
    api.remove_container(entry["Id"], force=True)
    assert harness.reach("e.c.0.1", ENDED).cause is Cause.KILLED


def test_a_container_that_went_without_an_event_is_an_end(harness: DockerHarness) -> None:
    harness.start(small("exec sleep 1000"))
    harness.reach("e.c.0.1", READY)
    record = harness.backend._registry.get("e.c.0.1")
    assert record is not None
    assert record.container is not None
    there, record.container = record.container, replace(record.container, container_id="gone")
    found = harness.reach("e.c.0.1", ENDED)
    assert (found.cause, found.message) == (Cause.KILLED, "its container was removed from outside")
    assert found.started_at_s == there.started_at_s
    harness.engine.machine.api.remove_container(there.container_id, force=True)


def test_what_an_interrupted_start_left_is_replaced(harness: DockerHarness) -> None:
    """The container is there and was never started: the next back-end removes it, and the service starts anew."""
    api: Any = harness.engine.machine.api
    name = group_name(harness.settings.installation, "c", ["e.c.0.1"])
    tags = {labels.INSTALLATION: harness.settings.installation, labels.SERVICES: "e.c.0.1"}
    api.create_container("shell", ["false"], name=name, labels=tags)
    assert harness.backend.observe() == []
    assert api.containers(all=True, filters={"name": name}) == []
    harness.start(small("echo once"))
    harness.reach("e.c.0.1", ENDED)
    assert harness.output("e.c.0.1") == "once\n"


def test_files_are_served_and_a_terminal_opens(harness: DockerHarness) -> None:
    harness.start(small("exec sleep 1000"))
    harness.reach("e.c.0.1", READY)
    assert harness.backend.files("tenant", "ann", USER).port > 0
    assert harness.backend.terminal("e.c.0.1", TerminalRequest(("true",))).port > 0
    with pytest.raises(BackendError, match="not running"):
        harness.backend.terminal("e.nobody.0.1", TerminalRequest(("true",)))


def test_a_network_stays_while_its_service_begins_and_goes_with_the_last(harness: DockerHarness) -> None:
    """The sweep asks for each network whether it is in use: a service may have begun since it was listed."""
    engine, attempt = Engine(harness.engine.url, None, 5.0), Attempt("e", 1)
    try:
        networks = AttemptNetworks(engine, harness.settings)
        name = networks.ensure(attempt, "tenant")
        begun: list[Attempt] = []

        def in_use() -> list[Attempt]:
            begun.append(attempt)
            return begun

        networks.sweep(in_use)
        assert networks.left
        assert f"network {name}" in things(harness.engine)
        networks.sweep(list)
        assert not networks.left
        assert f"network {name}" not in things(harness.engine)
        assert networks.ensure(attempt, "tenant") == name
        other = AttemptNetworks(engine, harness.settings)
        assert other.ensure(attempt, "tenant") == name
        other.sweep(list)
        foreign: Any = harness.engine.machine.api
        foreign.create_network(name)
        with pytest.raises(CannotStartError, match=f"already has a network called {name}"):
            AttemptNetworks(engine, harness.settings).ensure(attempt, "tenant")
        foreign.remove_network(name)
    finally:
        engine.close()


def test_an_image_that_went_between_plan_and_start_is_named(harness: DockerHarness) -> None:
    harness.start(replace(small("true"), image="shell:gone"))
    found = harness.reach("e.c.0.1", ENDED)
    assert (found.cause, found.message) == (
        Cause.IMAGE_UNAVAILABLE, "the engine refuses it: No such image: shell:gone"
    )  # fmt: skip
