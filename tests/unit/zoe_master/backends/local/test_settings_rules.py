"""Rules without processes: refusal, images, nodes, and names of volumes."""

from __future__ import annotations

import socket

import pytest

from zoe_lib.domain.applications.application import Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ImageState
from zoe_master.backends.local.files.volumes import variable_of
from zoe_master.backends.local.machine.images import find_runtime, image_status, runtime_of
from zoe_master.backends.local.machine.machine import (
    FOREIGN_STEP_BYTES,
    NodeMemory,
    default_node,
    machine_hosts,
    nodes_now,
)
from zoe_master.backends.local.refusal import refuse_reason
from zoe_master.backends.local.settings import LocalNode, Runtime
from zoe_master.backends.services.failures import CannotStartError

GIB = 2**30


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.9.1"])
def test_loopback_with_one_tenant_is_served(host: str) -> None:
    assert refuse_reason(host, ["ann"], insecure=False) is None
    assert refuse_reason(host, [], insecure=False) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.4", "zoe.example.org", "127.0.0.1.example.org"])
def test_beyond_loopback_is_refused_unless_told_otherwise(host: str) -> None:
    reason = refuse_reason(host, ["ann"], insecure=False)
    assert reason is not None
    assert "--insecure" in reason
    assert refuse_reason(host, ["ann"], insecure=True) is None


def test_a_second_tenant_is_refused_unless_told_otherwise() -> None:
    reason = refuse_reason("127.0.0.1", ["bob", "ann", "ann"], insecure=False)
    assert reason is not None
    assert "2 tenants (ann, bob)" in reason
    assert refuse_reason("127.0.0.1", ["bob", "ann"], insecure=True) is None


RUNTIMES = {"zoe/spark": Runtime(("/a",)), "zoe/spark:2": Runtime(("/b",)), "reg:5000/mpi": Runtime(("/c",))}


@pytest.mark.parametrize(
    ("image", "path"),
    [
        ("zoe/spark", "/a"),
        ("zoe/spark:3.5.9", "/a"),
        ("zoe/spark:2", "/b"),
        ("reg:5000/mpi", "/c"),
        ("reg:5000/mpi:1", "/c"),
        ("zoe/other", None),
        ("spark", None),
        ("reg", None),
    ],
)
def test_an_image_is_found_by_its_name_with_or_without_tag(image: str, path: str | None) -> None:
    runtime = find_runtime(image, RUNTIMES)
    assert (runtime.path[0] if runtime else None) == path


def test_an_image_without_runtime_comes_with_a_hint() -> None:
    status = image_status("x", {})
    assert (status.state, status.hint) == (ImageState.UNAVAILABLE, "configured runtimes: none")
    with pytest.raises(CannotStartError, match="zoe/spark, zoe/spark:2") as caught:
        runtime_of("x", RUNTIMES)
    assert caught.value.cause is Cause.IMAGE_UNAVAILABLE


def foreign(nodes: list[LocalNode], used_gib: float, ours_gib: float = 0.0, total_gib: int = 16) -> list[float]:
    memory = NodeMemory(total_gib * GIB, int((total_gib - used_gib) * GIB))
    return [node.foreign.memory_bytes / GIB for node in nodes_now(nodes, memory, int(ours_gib * GIB), {"a": 3})]


def local_node(name: str, gib: int) -> LocalNode:
    return LocalNode(name, 4000, gib * GIB, {"disk": "ssd"}, {"gpu": 2})


def test_memory_of_others_is_shared_out_by_size() -> None:
    assert foreign([local_node("a", 12), local_node("b", 4)], used_gib=4) == [3, 1]


def test_memory_of_others_fills_what_no_node_was_given_first() -> None:
    assert foreign([local_node("a", 6), local_node("b", 6)], used_gib=3) == [0, 0]
    assert foreign([local_node("a", 6), local_node("b", 6)], used_gib=6) == [1, 1]


def test_memory_of_own_services_is_not_foreign() -> None:
    assert foreign([local_node("a", 16)], used_gib=6, ours_gib=4) == [2]
    assert foreign([local_node("a", 16)], used_gib=2, ours_gib=5) == [0]


def test_memory_is_never_negative_and_ignores_flicker() -> None:
    [node] = nodes_now([local_node("a", 16)], NodeMemory(16 * GIB, 0), 0, {"a": 3})
    assert node.usable.memory_bytes == 0
    assert node.foreign.memory_bytes % FOREIGN_STEP_BYTES == 0
    assert foreign([local_node("a", 16)], 4.0001) == foreign([local_node("a", 16)], 4.001)


def test_more_nodes_than_machine_is_the_admins_wish() -> None:
    assert foreign([local_node("a", 16), local_node("b", 16)], used_gib=4) == [2, 2]


def test_a_node_is_told_as_it_was_set() -> None:
    [node] = nodes_now([local_node("a", 8)], NodeMemory(16 * GIB, 16 * GIB), 0, {"a": 3})
    assert (node.name, node.total.cores_milli, dict(node.total.devices)) == ("a", 4000, {"gpu": 2})
    assert (dict(node.labels), node.containers, node.ready) == ({"disk": "ssd"}, 3, True)


def test_without_nodes_the_machine_is_one() -> None:
    node = default_node()
    assert node.cores_milli >= 1000
    assert node.memory_bytes > 0


@pytest.mark.parametrize(
    ("volume", "variable"),
    [
        (Volume("/data", name="my-data.1"), "ZOE_VOLUME_MY_DATA_1"),
        (Volume("/mnt/in put", host_path="/x"), "ZOE_VOLUME_MNT_IN_PUT"),
        (Volume("/", host_path="/x"), "ZOE_VOLUME_ROOT"),
    ],
)
def test_a_volume_has_a_variable(volume: Volume, variable: str) -> None:
    assert variable_of(volume) == variable


def test_the_machine_is_known_by_its_name_and_addresses() -> None:
    hosts = machine_hosts()
    assert {socket.gethostname(), "127.0.0.1"} <= set(hosts)
    [node] = nodes_now([local_node("a", 16)], NodeMemory(16 * GIB, 0), 0, {}, hosts)
    assert node.addresses == hosts
