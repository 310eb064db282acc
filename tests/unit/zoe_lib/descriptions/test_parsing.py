"""parse: the result for a good document, and complete findings for a bad one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.zoe_lib.descriptions.documents import full, small
from zoe_lib.descriptions import Code, DescriptionError, parse, to_document
from zoe_lib.descriptions.bounds import FILES_BYTES_MAX
from zoe_lib.domain.applications.application import (
    ApplicationKind,
    Port,
    PortProtocol,
    PortSignIn,
    Probe,
    ProbeKind,
    Volume,
)
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, Pushdown


def found(document: object) -> list[tuple[str, Code]]:
    with pytest.raises(DescriptionError) as caught:
        parse(document)
    assert all(diagnostic.message for diagnostic in caught.value.diagnostics)
    return [(diagnostic.pointer, diagnostic.code) for diagnostic in caught.value.diagnostics]


def test_every_key_arrives() -> None:
    application = parse(full())
    server, worker = application.components
    assert (application.kind, application.expected_run_s, application.retries) == (ApplicationKind.INTERACTIVE, 60, 2)
    assert (application.default_priority, application.default_deadline_s, application.time_limit_s) == (5, 7200, 3600)
    assert server.reservation == Resources(1500, 2**30, {"gpu": 1})
    assert (server.memory_limit_bytes, server.cores_limit_milli, server.shm_bytes) == (2**31, 2000, 2**26)
    assert server.volumes == (Volume("/data", name="data", read_only=True), Volume("/shared", host_path="/srv/shared"))
    assert server.ports == (Port("web", 8080, PortProtocol.HTTP, "/lab", True, PortSignIn("X-Token", "")),)
    assert server.readiness == Probe(ProbeKind.HTTP, "web", "/health", 0.5, 30)
    assert (server.stop_grace_s, server.read_only_root, server.ends_application) == (5, True, True)
    assert server.labels == (("disk", "ssd"),)
    assert (worker.essential_count, worker.elastic_count, worker.reservation) == (0, 3, Resources(1000, 2**26))
    assert application.storage is not None
    assert application.storage.inputs[0].pushdown == Pushdown(("vid", "index"), "city = 'Nice'")
    assert application.storage.bandwidth == Bandwidth(40_000_000, 1_000_000, Guarantee.REQUIRED)


def test_the_canonical_document_gives_the_same_application() -> None:
    application = parse(full())
    assert parse(to_document(application)) == application
    assert to_document(parse(to_document(application))) == to_document(application)


def test_the_order_of_keys_means_nothing() -> None:
    backwards = {key: full()[key] for key in reversed(full())}
    backwards["components"][0]["environment"] = dict(reversed(full()["components"][0]["environment"].items()))
    assert parse(backwards) == parse(full())


def test_all_findings_come_at_once_and_in_order() -> None:
    document = full()
    document["nmae"] = document.pop("name")
    server, worker = document["components"]
    server.update(essential_count=2, image="", command=["{host:nobody}"])
    server["resources"].update(memory=-1, limits={"cores": 1})
    worker.update(volumes=[{"name": "a", "target": "/a/../b"}], ports=[{"name": "x", "number": 70000}])
    document["components"].append({**worker, "command": [], "ports": [], "volumes": []})
    document["storage"]["bandwidth"] = {}
    assert found(document) == [
        ("/name", Code.MISSING),
        ("/components/0/command/0", Code.UNKNOWN_REFERENCE),
        ("/components/0/essential_count", Code.CONFLICT),
        ("/components/0/essential_count", Code.CONFLICT),
        ("/components/0/image", Code.OUT_OF_RANGE),
        ("/components/0/resources/limits/cores", Code.CONFLICT),
        ("/components/0/resources/memory", Code.OUT_OF_RANGE),
        ("/components/1/ports/0/number", Code.OUT_OF_RANGE),
        ("/components/1/volumes/0/target", Code.BAD_FORMAT),
        ("/components/2/name", Code.DUPLICATE),
        ("/storage/bandwidth", Code.CONFLICT),
        ("/nmae", Code.UNKNOWN_KEY),
    ]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"name": "Upper"}, "name", Code.BAD_FORMAT),
        ({"name": "a" * 64}, "name", Code.OUT_OF_RANGE),
        ({"name": "a\n"}, "name", Code.BAD_FORMAT),
        ({"name": "-a"}, "name", Code.BAD_FORMAT),
        ({"name": "self"}, "name", Code.CONFLICT),
        ({"image": "a b"}, "image", Code.BAD_FORMAT),
        ({"image": "--rm"}, "image", Code.BAD_FORMAT),
        ({"command": "echo hi"}, "command", Code.WRONG_TYPE),
        ({"command": [1]}, "command/0", Code.WRONG_TYPE),
        ({"command": ["x"] * 513}, "command", Code.OUT_OF_RANGE),
        ({"command": ["{nope}"]}, "command/0", Code.BAD_TEMPLATE),
        ({"command": ["{port:web}"]}, "command/0", Code.UNKNOWN_REFERENCE),
        ({"command": ["${HOME}"]}, "command/0", Code.BAD_TEMPLATE),
        ({"work_dir": "relative"}, "work_dir", Code.BAD_FORMAT),
        ({"work_dir": "{workspace}/../x"}, "work_dir", Code.BAD_FORMAT),
        ({"work_dir": "{host:self}"}, "work_dir", Code.BAD_FORMAT),
        ({"environment": {"A=B": "x"}}, "environment/A=B", Code.BAD_FORMAT),
        ({"environment": {"": "x"}}, "environment/", Code.OUT_OF_RANGE),
        ({"environment": {"A": 1}}, "environment/A", Code.WRONG_TYPE),
        ({"environment": {"A": "{host:b}"}}, "environment/A", Code.UNKNOWN_REFERENCE),
        ({"environment": {"A": "\x00"}}, "environment/A", Code.BAD_FORMAT),
        ({"environment": {"A/~B": 1}}, "environment/A~1~0B", Code.BAD_FORMAT),
        ({"volumes": [{"target": "/a"}]}, "volumes/0", Code.CONFLICT),
        ({"volumes": [{"target": "/a", "name": "x", "host_path": "/b"}]}, "volumes/0", Code.CONFLICT),
        ({"volumes": [{"target": "a", "name": "x"}]}, "volumes/0/target", Code.BAD_FORMAT),
        ({"volumes": [{"target": "/", "name": "x"}]}, "volumes/0/target", Code.BAD_FORMAT),
        ({"volumes": [{"target": "//proc/x", "name": "x"}]}, "volumes/0/target", Code.BAD_FORMAT),
        ({"volumes": [{"target": "/a\nb", "name": "x"}]}, "volumes/0/target", Code.BAD_FORMAT),
        ({"volumes": [{"target": "/a/./b", "host_path": "/c"}]}, "volumes/0/target", Code.BAD_FORMAT),
        ({"volumes": [{"target": "/a", "host_path": "/c/.."}]}, "volumes/0/host_path", Code.BAD_FORMAT),
        ({"volumes": [{"target": "/a", "name": "x"}, {"target": "/a/", "name": "y"}]},
         "volumes/1/target", Code.DUPLICATE),
        ({"resources": {}}, "resources/memory", Code.MISSING),
        ({"resources": {"memory": 0}}, "resources/memory", Code.OUT_OF_RANGE),
        ({"resources": {"memory": "lots"}}, "resources/memory", Code.BAD_FORMAT),
        ({"resources": {"memory": "1GiB", "cores": -1}}, "resources/cores", Code.OUT_OF_RANGE),
        ({"resources": {"memory": "1GiB", "cores": float("nan")}}, "resources/cores", Code.OUT_OF_RANGE),
        ({"resources": {"memory": 10**30}}, "resources/memory", Code.OUT_OF_RANGE),
        ({"resources": {"memory": 2**60}}, "resources/memory", Code.OUT_OF_RANGE),
        ({"resources": {"memory": "2GiB", "limits": {"memory": "1GiB"}}}, "resources/limits/memory", Code.CONFLICT),
        ({"resources": {"memory": "1GiB", "devices": {"gpu": 0}}}, "resources/devices/gpu", Code.OUT_OF_RANGE),
        ({"essential_count": 2}, "essential_count", Code.CONFLICT),
        ({"essential_count": -1}, "essential_count", Code.OUT_OF_RANGE),
        ({"total_count": 0, "essential_count": 0}, "total_count", Code.OUT_OF_RANGE),
        ({"total_count": 10**9}, "total_count", Code.OUT_OF_RANGE),
        ({"total_count": True}, "total_count", Code.WRONG_TYPE),
        ({"total_count": 1.0}, "total_count", Code.WRONG_TYPE),
        ({"total_count": 2, "ends_application": True}, "total_count", Code.CONFLICT),
        ({"labels": {"a b": "x"}}, "labels/a b", Code.BAD_FORMAT),
        ({"ports": [{"name": "a", "number": 0}]}, "ports/0/number", Code.OUT_OF_RANGE),
        ({"ports": [{"name": "a", "number": 1}, {"name": "a", "number": 2}]}, "ports/1/name", Code.DUPLICATE),
        ({"ports": [{"name": "a", "number": 1}, {"name": "b", "number": 1}]}, "ports/1/number", Code.DUPLICATE),
        ({"ports": [{"name": "a", "number": 1, "proxied": True}]}, "ports/0/proxied", Code.CONFLICT),
        ({"ports": [{"name": "a", "number": 1, "protocol": "udp"}]}, "ports/0/protocol", Code.OUT_OF_RANGE),
        ({"ports": [{"name": "a", "number": 1, "sign_in": {}}]}, "ports/0/sign_in", Code.CONFLICT),
        ({"ports": [{"name": "a", "number": 1, "protocol": "http", "proxied": True, "sign_in": {"header": "A: b"}}]},
         "ports/0/sign_in/header", Code.BAD_FORMAT),
        ({"ports": [{"name": "a", "number": 1, "protocol": "http", "proxied": True, "sign_in": {"scheme": "a\r"}}]},
         "ports/0/sign_in/scheme", Code.BAD_FORMAT),
        ({"ports": [{"name": "a", "number": 1, "protocol": "http", "proxied": True, "sign_in": {"header": "Host"}}]},
         "ports/0/sign_in/header", Code.CONFLICT),
        ({"command": ["{secret_file}"]}, "command/0", Code.CONFLICT),
        ({"command": ["{files}/a"]}, "command/0", Code.CONFLICT),
        ({"files": {"../a": ""}}, "files/..~1a", Code.BAD_FORMAT),
        ({"files": {"/a": ""}}, "files/~1a", Code.BAD_FORMAT),
        ({"files": {".ssh": ""}}, "files/.ssh", Code.BAD_FORMAT),
        ({"files": {"a": 3}}, "files/a", Code.WRONG_TYPE),
        ({"files": {"a": "", "a/b": ""}}, "files/a", Code.CONFLICT),
        ({"files": {str(n): "" for n in range(65)}}, "files", Code.OUT_OF_RANGE),
        ({"readiness": {}}, "readiness", Code.CONFLICT),
        ({"readiness": {"tcp": "web"}}, "readiness/tcp", Code.UNKNOWN_REFERENCE),
        ({"stop_grace_s": float("inf")}, "stop_grace_s", Code.OUT_OF_RANGE),
        ({"esential_count": 1}, "esential_count", Code.UNKNOWN_KEY),
    ],
)  # fmt: skip
def test_one_bad_value_in_a_component(change: dict[str, Any], pointer: str, code: Code) -> None:
    assert (f"/components/0/{pointer}", code) in found(small(**change))


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"name": "../etc"}, "/name", Code.BAD_FORMAT),
        ({"kind": "service"}, "/kind", Code.OUT_OF_RANGE),
        ({"time_limit_s": 0}, "/time_limit_s", Code.OUT_OF_RANGE),
        ({"time_limit_s": "60"}, "/time_limit_s", Code.WRONG_TYPE),
        ({"size": {"run_time_s": -1}}, "/size/run_time_s", Code.OUT_OF_RANGE),
        ({"priority": 10**6}, "/priority", Code.OUT_OF_RANGE),
        ({"components": []}, "/components", Code.MISSING),
        ({"components": {}}, "/components", Code.WRONG_TYPE),
        ({"components": [3]}, "/components/0", Code.WRONG_TYPE),
        ({"version": 3}, "/version", Code.UNSUPPORTED_VERSION),
        ({"version": "4"}, "/version", Code.UNSUPPORTED_VERSION),
        ({"storage": {"inputs": [{"name": "a", "uri": "http://x/y"}]}}, "/storage/inputs/0/uri", Code.BAD_FORMAT),
        ({"storage": {"inputs": [{"name": "a", "uri": "s3a://k:s@b/y"}]}}, "/storage/inputs/0/uri", Code.BAD_FORMAT),
        ({"storage": {"inputs": [{"name": "a", "uri": "file:///a/../b"}]}}, "/storage/inputs/0/uri", Code.BAD_FORMAT),
        ({"storage": {"bandwidth": {"read": "40MB"}}}, "/storage/bandwidth/read", Code.BAD_FORMAT),
        ({"storage": {"bandwidth": {"read": 0}}}, "/storage/bandwidth/read", Code.OUT_OF_RANGE),
    ],
)
def test_one_bad_value_in_the_application(change: dict[str, Any], pointer: str, code: Code) -> None:
    assert (pointer, code) in found({**small(), **change})


@pytest.mark.parametrize(
    ("pushdown", "finding", "words"),
    [
        ({"where": "kwh >"}, ("where", Code.BAD_FORMAT), "ends too early: a number or a 'text' is expected"),
        ({"where": "kwh = 1 or city ~ 'N'"}, ("where", Code.BAD_FORMAT), "from character 17: \"~ 'N'\""),
        ({"where": "city like 'N'"}, ("where", Code.BAD_FORMAT), "expected at character 6, not 'like'"),
        ({"where": "(" * 60 + "a = 1" + ")" * 60}, ("where", Code.BAD_FORMAT), "nested more than 50 levels deep"),
        ({"where": " or ".join(["a = 1"] * 300)}, ("where", Code.BAD_FORMAT), "more than 200 comparisons"),
        ({"where": "a = 1" + " " * 5000}, ("where", Code.OUT_OF_RANGE), "4096"),
        ({"columns": ["a", "b", "a"]}, ("columns/2", Code.DUPLICATE), "'a'"),
        ({}, ("", Code.CONFLICT), "a pushdown needs"),
        ({"where": "id = 9007199254740993"}, ("where", Code.CONFLICT), "above 2^53 are not exact"),
        (
            {"columns": ["a", {"name": "id", "read": False}], "where": "a = 1"},
            ("columns/1", Code.CONFLICT),
            "id is neither read nor compared",
        ),
    ],
)
def test_a_pushdown_is_understood_before_it_is_kept(
    pushdown: dict[str, Any], finding: tuple[str, Code], words: str
) -> None:
    document = full()
    document["storage"]["inputs"][0]["pushdown"] = pushdown
    with pytest.raises(DescriptionError) as caught:
        parse(document)
    place = "/storage/inputs/0/pushdown" + (f"/{finding[0]}" if finding[0] else "")
    assert (place, finding[1]) in [(diagnostic.pointer, diagnostic.code) for diagnostic in caught.value.diagnostics]
    assert any(words in diagnostic.message for diagnostic in caught.value.diagnostics)


@pytest.mark.parametrize("columns", [["city"], []])
def test_a_column_that_is_only_compared_has_a_type(columns: list[str]) -> None:
    document, compared = full(), {"name": "id", "type": "long", "read": False}
    pushdown = {"columns": [*columns, compared], "where": "id = 9007199254740993"}
    document["storage"]["inputs"][0]["pushdown"] = pushdown
    application = parse(document)
    found = application.storage.inputs[0].pushdown
    assert found == Pushdown(tuple(columns), pushdown["where"], (("id", "long"),))
    assert to_document(application)["storage"]["inputs"][0]["pushdown"] == pushdown


@pytest.mark.parametrize("document", [None, [], "x", 4, {}, {"version": True}, b"x", object(), {1: 2}])
def test_document_that_is_no_description_is_refused(document: object) -> None:
    assert len(found(document)) == 1


def test_two_components_cannot_both_end_the_application() -> None:
    document = small(ends_application=True)
    document["components"].append({**document["components"][0], "name": "other"})
    assert found(document) == [("/components/1/ends_application", Code.CONFLICT)]


def test_an_application_needs_a_core_instance() -> None:
    assert found(small(essential_count=0)) == [("/components", Code.CONFLICT)]


def test_an_elastic_component_has_no_address() -> None:
    document = full()
    document["components"][0]["command"] = ["{host:worker}", "{hosts:worker}"]
    assert found(document) == [("/components/0/command/0", Code.CONFLICT)]


def test_services_are_bounded_in_all() -> None:
    document = small(total_count=9_999)
    document["components"].append({**document["components"][0], "name": "other"})
    assert found(document) == [("/components", Code.OUT_OF_RANGE)]


def test_names_are_unique_over_inputs_and_outputs() -> None:
    document = full()
    document["storage"]["outputs"][0]["name"] = "meters"
    assert found(document) == [("/storage/outputs/0/name", Code.DUPLICATE)]


def test_names_of_columns_differ_in_more_than_case() -> None:
    document = full()
    document["storage"]["inputs"][0]["csv"] = {"names": ["id", "city", "ID", "City", "id2"]}
    assert found(document) == [
        (f"/storage/inputs/0/csv/names/{index}", Code.DUPLICATE) for index in (2, 3)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"esential_count": 1}, "did you mean 'essential_count'?"),
        ({"command": "echo 'hi you'"}, "write ['echo', 'hi you']"),
        ({"environment": {"N": 3}}, 'write "3" with quotes'),
        ({"total_count": "3"}, "write the number without quotes"),
        ({"total_count": "three"}, ""),
        ({"stop_grace_s": "1:00:00"}, "write seconds"),
        ({"readiness": {"tpc": "web"}}, "did you mean 'tcp'?"),
        ({"resources": {"memroy": 1, "memory": "1GiB"}}, "did you mean 'memory'?"),
    ],
)
def test_hints(change: dict[str, Any], hint: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse(small(**change))
    assert hint in [diagnostic.hint for diagnostic in caught.value.diagnostics]


def test_an_old_description_gets_the_hint_to_convert_it() -> None:
    with pytest.raises(DescriptionError, match="zoe convert"):
        parse({"version": 2, "services": []})


def test_a_predicate_that_is_too_long_is_told_once() -> None:
    document = full()
    document["storage"]["inputs"][0]["pushdown"]["where"] = "city = '" + "x" * 5000 + "'"
    assert [code for place, code in found(document) if place.endswith("/where")] == [Code.OUT_OF_RANGE]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/./b", "a//b", "", "a\nb", "x" * 1025, 3])
def test_results_are_paths_below_the_workspace(path: object) -> None:
    assert parse({**small(), "results": ["out/*.csv"]}).results == ("out/*.csv",)
    assert [place for place, _ in found({**small(), "results": [path]})] == ["/results/0"]


def test_the_files_of_all_components_are_bounded_in_bytes() -> None:
    half = "ä" * (FILES_BYTES_MAX // 4)
    document = small(files={"a": half})
    document["components"].append({**document["components"][0], "name": "other"})
    assert parse(document).components[1].files == (("a", half),)
    document["components"][1]["files"] = {"a": half, "b": "x"}
    assert ("/components", Code.TOO_BIG) in found(document)


@pytest.mark.parametrize("text", ["+3h", "08:00 Europe/Paris", "2026-12-01T08:00+01:00", "2020-01-01 08:00 UTC"])
def test_a_deadline_is_kept_as_it_is_written(text: str) -> None:
    """Each submission computes its time; one that has passed is refused then."""
    application = parse({**small(), "deadline": text})
    assert (application.default_deadline, application.default_deadline_s) == (text, None)
    assert to_document(application)["deadline"] == text
    assert parse(to_document(application)) == application


def test_a_deadline_that_is_none_or_of_no_zone_is_told() -> None:
    for text in ("soon", "08:00", "2026-12-01", "08:00 Mars/Base", "08:00 ../../etc/passwd"):
        assert found({**small(), "deadline": text}) == [("/deadline", Code.BAD_FORMAT)], text
    assert found({**small(), "deadline": ""}) == [("/deadline", Code.OUT_OF_RANGE)]
    assert found({**small(), "deadline": "9" * 1000}) == [("/deadline", Code.OUT_OF_RANGE)]
    assert found({**small(), "deadline": 30}) == [("/deadline", Code.WRONG_TYPE)]
    assert found({**small(), "deadline": "+3h", "deadline_s": 30}) == [("/deadline", Code.CONFLICT)]
