"""Frameworks put in place of their references, and findings led back to the user's document."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.zoe_lib.descriptions.documents import small, spark
from zoe_lib.descriptions import Code, DescriptionError, expand, parse
from zoe_lib.domain.applications.application import Component

MIB = 2**20


def component(document: dict[str, Any], name: str) -> Component:
    return parse(document).component(name)


def found(document: dict[str, Any]) -> list[tuple[str, Code]]:
    with pytest.raises(DescriptionError) as caught:
        parse(document)
    return [(diagnostic.pointer, diagnostic.code) for diagnostic in caught.value.diagnostics]


def argument(of: Component, flag: str) -> str:
    return of.command[of.command.index(flag) + 1]


def test_components_come_first_with_their_prefix() -> None:
    expanded = expand(spark(parameters={"core_workers": 2, "elastic_workers": 3}))
    assert [c["name"] for c in expanded["components"]] == ["spark-master", "spark-worker", "driver"]
    assert "frameworks" not in expanded
    worker = component(spark(parameters={"core_workers": 2, "elastic_workers": 3}), "spark-worker")
    assert (worker.essential_count, worker.total_count) == (2, 5)
    assert worker.command[-1] == "spark://{host:spark-master}:{port:spark-master.rpc}"


def test_one_framework_twice_under_two_names() -> None:
    document = spark()
    document["frameworks"].append({"framework": "spark", "name": "other"})
    assert parse(document).component("other-worker").command[-1].startswith("spark://{host:other-master}")


@pytest.mark.parametrize(("reserved", "heap"), [("1GiB", 512), ("2GiB", 1536), ("10GiB", 8192)])
def test_spark_heaps_are_below_the_reservation(reserved: str, heap: int) -> None:
    worker = component(spark(parameters={"worker_memory": reserved}), "spark-worker")
    assert argument(worker, "--memory") == f"{heap}m"
    daemon = int(dict(worker.environment)["SPARK_DAEMON_MEMORY"].removesuffix("m"))
    assert (heap + daemon) * MIB < worker.reservation.memory_bytes


@pytest.mark.parametrize(("cores", "slots"), [(0.5, "1"), (1, "1"), (2.5, "3"), (4, "4")])
def test_spark_workers_run_at_least_one_task(cores: float, slots: str) -> None:
    worker = component(spark(parameters={"worker_cores": cores}), "spark-worker")
    assert argument(worker, "--cores") == slots
    assert worker.reservation.cores_milli == cores * 1000


def test_spark_binds_to_its_own_address_and_fixes_no_port() -> None:
    for name in ("spark-master", "spark-worker"):
        daemon = component(spark(), name)
        assert (argument(daemon, "--port"), argument(daemon, "--webui-port")) == ("{port:rpc}", "{port:ui}")
        addresses = [dict(daemon.environment)[name] for name in ("SPARK_LOCAL_HOSTNAME", "SPARK_LOCAL_IP")]
        assert addresses == ["{host:self}", "{host:self}"]


def test_mpi_is_rigid_and_ends_with_its_launcher() -> None:
    use = {"framework": "mpi", "parameters": {"program": ["./run", "{workspace}/x"], "workers": 4}}
    application = parse({"version": 4, "name": "mpi", "frameworks": [use]})
    worker, launcher = application.components
    assert (worker.essential_count, worker.total_count) == (4, 4)
    assert launcher.command[-3:] == ("--", "./run", "{workspace}/x")
    assert argument(launcher, "--addresses") == "{addresses:mpi-worker.ssh}"
    assert launcher.ends_application


def test_overrides_merge() -> None:
    resources = {"cores": 3, "limits": None}
    override = {"environment": {"A": "{host:master}"}, "resources": resources, "readiness": None, "command": ["x"]}
    worker = component(spark(overrides={"worker": override}), "spark-worker")
    assert dict(worker.environment).keys() >= {"A", "SPARK_DAEMON_MEMORY"}
    assert dict(worker.environment)["A"] == "{host:spark-master}"
    assert (worker.reservation.cores_milli, worker.readiness, worker.command) == (3000, None, ("x",))


@pytest.mark.parametrize(
    ("use", "pointer", "code"),
    [
        ({"framework": "sprak"}, "/frameworks/0/framework", Code.UNKNOWN_REFERENCE),
        ({"nmae": "x"}, "/frameworks/0/nmae", Code.UNKNOWN_KEY),
        ({"name": "X"}, "/frameworks/0/name", Code.BAD_FORMAT),
        ({"parameters": {"wrokers": 1}}, "/frameworks/0/parameters/wrokers", Code.UNKNOWN_KEY),
        ({"parameters": {"core_workers": 0}}, "/frameworks/0/parameters/core_workers", Code.OUT_OF_RANGE),
        ({"parameters": {"core_workers": True}}, "/frameworks/0/parameters/core_workers", Code.WRONG_TYPE),
        ({"parameters": {"core_workers": 1.5}}, "/frameworks/0/parameters/core_workers", Code.WRONG_TYPE),
        ({"parameters": {"worker_memory": "some"}}, "/frameworks/0/parameters/worker_memory", Code.BAD_FORMAT),
        ({"parameters": {"worker_memory": "1MiB"}}, "/frameworks/0/parameters/worker_memory", Code.OUT_OF_RANGE),
        ({"overrides": {"wroker": {}}}, "/frameworks/0/overrides/wroker", Code.UNKNOWN_REFERENCE),
        ({"overrides": {"worker": {"name": "x"}}}, "/frameworks/0/overrides/worker/name", Code.CONFLICT),
        ({"overrides": {"worker": {"imag": "x"}}}, "/frameworks/0/overrides/worker/imag", Code.UNKNOWN_KEY),
        ({"overrides": {"worker": {"command": ["a", "{x}"]}}},
         "/frameworks/0/overrides/worker/command/1", Code.BAD_TEMPLATE),
        ({"overrides": {"worker": {"essential_count": 9}}},
         "/frameworks/0/overrides/worker/essential_count", Code.CONFLICT),
        ({"overrides": {"worker": {"ends_application": True, "total_count": 2}}},
         "/frameworks/0/overrides/worker/total_count", Code.CONFLICT),
        ({"parameters": {"image": "a b"}}, "/frameworks/0", Code.BAD_FORMAT),
    ],
)  # fmt: skip
def test_findings_point_into_the_users_document(use: dict[str, Any], pointer: str, code: Code) -> None:
    assert (pointer, code) in found(spark(**use))


def test_findings_in_own_components_keep_their_index() -> None:
    document = spark()
    document["components"][0]["image"] = ""
    assert found(document) == [("/components/0/image", Code.OUT_OF_RANGE)]


def test_a_broken_reference_tells_nothing_that_only_follows_from_it() -> None:
    document = spark(framework="sprak")
    document["components"][0]["command"] = ["{host:spark-master}"]
    assert found(document) == [("/frameworks/0/framework", Code.UNKNOWN_REFERENCE)]


@pytest.mark.parametrize("frameworks", [{}, "spark", [[]], [None], [{}] * 21])
def test_frameworks_of_the_wrong_shape(frameworks: object) -> None:
    assert found({**small(), "frameworks": frameworks})
