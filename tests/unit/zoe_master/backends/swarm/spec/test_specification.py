"""Swarm services from ServiceStarts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from zoe_lib.domain.applications.application import Component, Port, Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import InputRead
from zoe_master.backends.base import PeerService, ServiceStart, ServiceStorage
from zoe_master.backends.engine.spec.rendering import needs_secret, render
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.swarm import SwarmSettings
from zoe_master.backends.swarm.spec.grouping import group_services
from zoe_master.backends.swarm.spec.specification import AttemptContext, needs_network, service_spec

SETTINGS = SwarmSettings(state_dir=Path("unused"), images=("zoe/*",), user="65534:65534")
RPC = (Port("rpc", 7077),)

ACCESS = ServiceStorage(
    {"meters": InputRead("meters", "swift2d://view.zoe/data", "view", ("id", "kwh"))},
    {"out": "swift2d://results.zoe/x"},
    {"core-site.xml": "a-key"},
)


def start(component: Component, index: int = 0, node: str = "n1") -> ServiceStart:
    peers = (
        PeerService("e.master.0.1", "master", 0, "n1", RPC),
        PeerService("e.worker.1.1", "worker", 1, "n2"),
        PeerService("e.worker.0.1", "worker", 0, "n1"),
        PeerService("e.worker.2.1", "worker", 2, None),
    )
    return ServiceStart(f"e.{component.name}.{index}.1", "e", "tenant", "ann", component, index, node, peers, "cause")


def worker(*command: str, **changes: Any) -> Component:
    base = Component("worker", "zoe/spark", Resources(500, 2**30, {"gpu": 1}), command=command, total_count=4)
    return replace(base, **changes)


def test_templates_become_names_inside_the_network() -> None:
    words = ("{host:self}", "{host:master}:{port:master.rpc}", "{hosts:worker}", "{scratch}", "{index}", "{user}")
    assert render(start(worker(*words), 1), SETTINGS).arguments == (
        "worker-1",
        "master-0:7077",
        "worker-0,worker-1",
        "/tmp",
        "1",
        "ann",
    )


def test_addresses_name_the_port_at_each_instance() -> None:
    assert render(start(worker("{addresses:master.rpc}"), 1), SETTINGS).arguments == ("master-0:7077",)


def test_the_secret_of_the_proxy_is_a_file_for_the_user_alone() -> None:
    rendered = render(replace(start(worker("--token-file={secret_file}")), secret="s3cret"), SETTINGS)
    assert rendered.arguments == ("--token-file=/run/secrets/zoe-sign-in",)
    spec = service_spec([rendered], AttemptContext("node", sign_in=("id", "name")), SETTINGS)
    (secret,) = spec["task_template"]["ContainerSpec"]["Secrets"]
    assert (secret["SecretID"], secret["File"]["Name"], secret["File"]["Mode"]) == ("id", "zoe-sign-in", 0o400)
    assert "s3cret" not in str(spec)


def test_a_port_that_is_not_there_is_told() -> None:
    with pytest.raises(CannotStartError, match="the port does not exist"):
        render(start(worker("{port:master.nothing}")), SETTINGS)


def test_without_workspaces_the_template_is_refused_in_words() -> None:
    with pytest.raises(CannotStartError, match="ZOE_ENGINE_WORKSPACES_DIR"):
        render(start(worker("{workspace}")), SETTINGS)
    here = replace(SETTINGS, workspaces_dir=Path("/mnt/zoe"))
    rendered = render(start(worker("{workspace}", work_dir="sub")), here)
    assert (rendered.arguments, rendered.work_dir) == (("/workspace",), "/workspace/sub")
    assert rendered.mounts[0]["Source"] == "/mnt/zoe/tenant"


def test_an_image_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(CannotStartError) as refused:
        render(start(worker(image="other/spark")), SETTINGS)
    assert refused.value.cause is Cause.IMAGE_UNAVAILABLE


def test_a_host_path_cannot_climb_out_of_the_list() -> None:
    allowed = replace(SETTINGS, host_paths_allowed=(Path("/data"),))
    render(start(worker(volumes=(Volume("/d", host_path="/data/x"),))), allowed)
    for path in ("/data/../etc", "/database", "data"):
        with pytest.raises(CannotStartError, match="not on the admin's list"):
            render(start(worker(volumes=(Volume("/d", host_path=path),))), allowed)


def test_identical_tasks_are_one_group_and_others_are_not() -> None:
    same = worker("sleep", environment=(("INDEX", "{index}"),))
    by_name = worker("--host", "{host:self}")
    starts = [start(same, 2), start(same, 1), start(same, 0), start(same, 3, "n2")]
    groups = group_services(render(start, SETTINGS) for start in starts)
    assert [[service.start.index for service in group] for group in groups] == [[1, 2], [0], [3]]  # core is separate
    assert len(group_services(render(start(by_name, index), SETTINGS) for index in (1, 2, 3))) == 3


def test_the_service_never_restarts_and_has_no_privileges() -> None:
    group = [render(start(worker("run", cores_limit_milli=2000, memory_limit_bytes=2**31)), SETTINGS)]
    spec = service_spec(group, AttemptContext("node-id", "net", ("id", "name")), SETTINGS)
    task = spec["task_template"]
    container = task["ContainerSpec"]
    assert task["RestartPolicy"]["Condition"] == "none"
    assert task["Placement"]["Constraints"] == ["node.id==node-id"]
    assert task["Networks"] == [{"Target": "net"}]
    assert task["Resources"]["Limits"] == {"NanoCPUs": 2 * 10**9, "MemoryBytes": 2**31, "Pids": 4096}
    assert task["Resources"]["Reservations"]["GenericResources"] == [
        {"DiscreteResourceSpec": {"Kind": "gpu", "Value": 1}}
    ]
    assert (container["CapabilityDrop"], container["Init"], container["User"]) == (["ALL"], True, "65534:65534")
    assert "Command" not in container  # the image's own entry point stays
    assert container["Args"] == ["run"]
    assert spec["endpoint_spec"] == {"Mode": "dnsrr"}


def test_configuration_comes_as_secrets_of_the_user_and_never_as_text() -> None:
    reading = replace(start(worker("{input:meters}", "{columns:meters}", "{output:out}")), storage=ACCESS)
    group = [render(reading, SETTINGS)]
    spec = service_spec(
        group, AttemptContext("n", secret=("i", "s"), configuration={"core-site.xml": ("id", "name")}), SETTINGS
    )
    container = spec["task_template"]["ContainerSpec"]
    assert container["Args"] == ["swift2d://view.zoe/data", "id,kwh", "swift2d://results.zoe/x"]
    assert {"SPARK_CONF_DIR=/run/secrets/zoe-storage", "HADOOP_CONF_DIR=/run/secrets/zoe-storage"} <= set(
        container["Env"]
    )
    owner = {"UID": "65534", "GID": "65534", "Mode": 0o400}
    assert container["Secrets"] == [
        {"SecretID": "i", "SecretName": "s", "File": {"Name": "zoe-execution", **owner}},
        {"SecretID": "id", "SecretName": "name", "File": {"Name": "zoe-storage/core-site.xml", **owner}},
    ]
    assert "a-key" not in str(spec) + str(reading)


def test_files_come_as_secrets_and_programs_among_them_can_be_executed() -> None:
    component = worker("{files}/run", files=(("lib/a.txt", "a"), ("run", "#!/bin/sh\n")))
    names = {"lib/a.txt": ("i", "s"), "run": ("id", "name")}
    spec = service_spec([render(start(component), SETTINGS)], AttemptContext("n", files=names), SETTINGS)
    container = spec["task_template"]["ContainerSpec"]
    assert container["Args"] == ["/run/secrets/zoe-files/run"]
    files = [entry["File"] for entry in container["Secrets"]]
    assert [(file["Name"], file["Mode"]) for file in files] == [
        ("zoe-files/lib/a.txt", 0o400),
        ("zoe-files/run", 0o500),
    ]


def test_a_secret_is_for_those_who_talk() -> None:
    alone = replace(start(worker()), peers=(PeerService("e.worker.0.1", "worker", 0, "n1"),))
    assert not needs_secret(alone)
    assert needs_network(replace(alone, component=worker(reservation=Resources(100, 2**20))))
    assert not needs_network(alone), "Swarm would reject a task with devices whose node joins a network"
    assert needs_secret(start(worker()))
    assert needs_secret(replace(alone, component=worker(ports=RPC)))


@pytest.mark.parametrize("promised", [False, True])
def test_engines_are_told_which_cores_are_promised(promised: bool) -> None:
    group = [render(replace(start(worker("true")), promised=promised), SETTINGS)]
    container = service_spec(group, AttemptContext("id"), SETTINGS)["task_template"]["ContainerSpec"]
    assert container["Labels"]["zoe.cores-milli"] == "500"
    assert ("zoe.promised" in container["Labels"]) is promised
