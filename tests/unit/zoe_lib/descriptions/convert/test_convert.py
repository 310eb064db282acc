"""convert: each old format, its odd corners, and the notes on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.zoe_lib.descriptions.convert.old_documents import peers, v0, v1, v2, v3
from tests.unit.zoe_lib.descriptions.documents import full
from zoe_lib.descriptions import ConversionDefaults, DescriptionError, convert, parse
from zoe_lib.domain.applications.application import Application, ApplicationKind, Component, Port, PortProtocol, Volume

HOST_1 = "web-{execution_name}-{user_name}-{deployment_name}-zoe.{user_name}-{deployment_name}-zoe"


def application(document: dict[str, Any]) -> Application:
    return parse(convert(document).document)


def component(document: dict[str, Any], index: int = 0) -> Component:
    return application(document).components[index]


def notes(document: dict[str, Any]) -> str:
    return "\n".join(map(str, convert(document).notes))


def variable(document: dict[str, Any], index: int = 0) -> str:
    return dict(component(document, index).environment)["A"]


def test_format_0() -> None:
    assert application(v0()).kind is ApplicationKind.INTERACTIVE
    web = component(v0())
    assert (web.image, web.reservation.memory_bytes, web.ends_application) == ("repo/web", 10**9, True)
    assert web.ports == (Port("web-page", 8080, PortProtocol.HTTP, "/", True),)
    assert "'/repo/web' became 'repo/web'" in notes(v0())


def test_format_1() -> None:
    assert application(v1()).kind is ApplicationKind.BATCH
    assert component(v1()).ports == (Port("web-page", 80, PortProtocol.HTTP, "/x", True),)


def test_formats_0_and_1_start_in_the_order_of_the_list() -> None:
    document = v1()
    document["services"].append({**document["services"][0], "name": "other"})
    assert [c.startup_order for c in application(document).components] == [0, 1]


def test_format_2() -> None:
    document = v2(
        volumes=[["/srv/data", "/data", True]], constraints=["constraint:disk==ssd", "affinity:x"], networks=["n"]
    )
    document["services"][0].update(total_count="3", monitor=False)
    web = component(document)
    assert (web.essential_count, web.total_count) == (1, 3)
    assert web.volumes == (Volume("/data", host_path="/srv/data", read_only=True),)
    assert web.labels == (("disk", "ssd"),)
    assert dict(web.environment)["ZOE_WORKSPACE"] == "{workspace}"
    for told in (
        "must be allowed by the admin",
        "constraint 'affinity:x' left out",
        "the back-end provides networks",
        "not restarted",
    ):
        assert told in notes(document)


def test_format_3() -> None:
    document = v3(
        command="run --token='' a b",
        work_dir="/mnt/workspace/x",
        labels=["gpu"],
        volumes=[{"name": "data", "path": "/srv/data", "read_only": False}],
        ports=[
            {"name": "Page", "url_template": "http://{ip_port}{proxy_path}/lab", "port_number": 80, "protocol": "tcp"},
            {"name": "Shell", "url_template": "ssh://{ip_port}", "port_number": 22, "protocol": "tcp"},
            {"name": "Names", "url_template": "", "port_number": 53, "protocol": "udp"},
        ],
    )
    document["services"][0]["resources"]["shm"] = 2**26
    web = component(document)
    assert web.command == ("run", "--token=", "a", "b")
    assert web.work_dir == "{workspace}/x"
    assert web.labels == (("gpu", "true"),)
    assert web.volumes == (Volume("/mnt/data", host_path="/srv/data"),)
    assert web.ports == (Port("page", 80, PortProtocol.HTTP, "/lab", True), Port("shell", 22))
    assert (web.reservation.cores_milli, web.cores_limit_milli) == (500, None)
    assert (web.memory_limit_bytes, web.shm_bytes) == (2**31, 2**26)
    assert "udp ports" in notes(document)


def test_version_4_stays_as_it_is() -> None:
    assert convert(full()).document == full()
    assert not convert(full()).notes


@pytest.mark.parametrize("memory", [None, -1, 0, "absent"])
def test_memory_that_is_not_there_becomes_the_default(memory: object) -> None:
    document = v2(required_resources={} if memory == "absent" else {"memory": memory})
    converted = convert(document, ConversionDefaults(memory_bytes=3 * 2**30, cores=0.2))
    (web,) = parse(converted.document).components
    assert (web.reservation.memory_bytes, web.reservation.cores_milli) == (3 * 2**30, 200)
    assert "the default of 3GiB is used" in "\n".join(map(str, converted.notes))


def test_null_reservations_of_format_3_become_the_defaults() -> None:
    nothing = {"min": None, "max": None}
    web = component(v3(resources={"memory": nothing, "cores": nothing}))
    assert (web.reservation.memory_bytes, web.reservation.cores_milli) == (2 * 2**30, 100)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("{user_name}", "{user}"),
        ("{execution_id}", "{execution}"),
        ("{execution_name}", "{execution}"),
        ("{deployment_name}", "zoe"),
        ("{dns_name#self}", "{host:self}"),
        ("{dns_name#server0}:7077", "{host:server}:7077"),
        ("{dns_name#server}", "{host:server}"),
        ("{dns_name#nobody0}", "{{dns_name#nobody0}}"),
        ("{cluster[server][ip_address]}", "{host:server}"),
        ("spark://server-0-{execution_name}-{user_name}-{deployment_name}-zoe:7077", "spark://{host:server}:7077"),
        (HOST_1.replace("web", "server"), "{host:server}"),
        ("{name_prefix}-server-{execution_id}.{name_prefix}-usernet-{user_id}", "{host:server}"),
        ("web-{index}-{execution_name}-{user_name}-{deployment_name}-zoe", "{host:self}"),
        ("server0-{execution_id}-{deployment_name}", "{host:server}"),
        ("/mnt/workspace/a:/mnt/workspaces", "{workspace}/a:/mnt/workspaces"),
        ("{{literal}}", "{{literal}}"),
        ("{unknown} {", "{{unknown}} {{"),
        ('{"a": {"b": 1}}', '{{"a": {{"b": 1}}}}'),
        ("observer-{execution_name}", "observer-{execution}"),
    ],
)
def test_placeholders_become_templates(text: str, template: str) -> None:
    assert variable(peers({"name": "web", "environment": [["A", text]]}), 1) == template


def test_another_instance_than_the_first_is_told() -> None:
    document = peers({"name": "web", "environment": [["A", "{dns_name#server1}"]]})
    assert variable(document, 1) == "{host:server}"
    assert "instance 1 of 'server'" in notes(document)


def test_names_that_end_in_digits_are_told_apart() -> None:
    document = peers({"name": "server1"}, {"name": "web", "environment": [["A", "{dns_name#server10}"]]})
    assert variable(document, 2) == "{host:server1}"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("", ()),
        ("./run 'a b'", ("./run", "a b")),
        ("cd /tmp && make", ("/bin/sh", "-c", "cd /tmp && make")),
        ("echo 'a", ("/bin/sh", "-c", "echo 'a")),
        ("awk '{print $1}' x", ("awk", "{{print $1}}", "x")),
    ],
)
def test_command_lines_are_split(command: str, arguments: tuple[str, ...]) -> None:
    assert component(v3(command=command)).command == arguments


def test_formats_before_3_had_placeholders_in_commands() -> None:
    assert component(v2(command="run {user_name}")).command == ("run", "{user}")
    assert component(v3(command="run {user_name}")).command == ("run", "{{user_name}}")


@pytest.mark.parametrize(("policy", "rate"), [("platinum", 90), ("gold", 80), ("Silver", 40), ("bronze", 20)])
def test_storage_policies_become_a_bandwidth(policy: str, rate: int) -> None:
    plugins = {"storage": [{"name": "x", "tenant": "t", "policy": policy, "channel": {"password": "secret"}}]}
    converted = convert({**v2(), "plugins": plugins})
    storage = parse(converted.document).storage
    assert storage is not None
    assert storage.bandwidth is not None
    assert storage.bandwidth.read_bytes_per_s == storage.bandwidth.write_bytes_per_s == rate * 10**6
    assert storage.bandwidth.guarantee == "preferred"
    assert "secret" not in f"{converted}"


def test_an_unknown_storage_policy_is_told() -> None:
    assert "policy 'tin' left out" in notes({**v2(), "plugins": {"storage": {"policy": "tin"}}})


def test_names_are_made_legal_and_unique() -> None:
    document = v2(name="My_Service")
    document["name"] = "weird/name"
    document["services"] += [{**document["services"][0], "name": name} for name in ("my service", "self", "-" * 70)]
    assert [c.name for c in application(document).components] == [
        "my-service",
        "my-service-2",
        "self-component",
        "service",
    ]
    assert application(document).name == "weird-name"
    assert "'My_Service' became 'my-service'" in notes(document)


def test_the_first_single_monitored_service_ends_the_application() -> None:
    document = peers({"name": "pool", "monitor": True, "total_count": 3}, {"name": "also", "monitor": True})
    assert [c.ends_application for c in application(document).components] == [True, False, False]
    assert notes(document).count("does not end the application") == 2


def test_counts_that_contradict_are_mended_and_told() -> None:
    assert component(v2() | {"services": [v2()["services"][0] | {"essential_count": 5}]}).essential_count == 1
    elastic = v2(monitor=False)
    elastic["services"][0].update(essential_count=0, total_count=0)
    assert (component(elastic).essential_count, component(elastic).total_count) == (1, 1)
    assert "became 0 of 1" in notes(elastic)


def test_services_are_bounded_in_all() -> None:
    document = peers(
        {"name": "many", "total_count": 10**9, "essential_count": 10**8}, {"name": "some", "total_count": 5}
    )
    assert [c.total_count for c in application(document).components] == [1, 9994, 5]
    assert "'many': total_count 10000 became 9994" in notes(document)


@pytest.mark.parametrize(
    "service",
    [
        {"ports": [{"name": "x", "port_number": 0, "protocol": "http"}, 3, []]},
        {"ports": [{"name": 7, "port_number": "80", "protocol": "https", "path": None}]},
        {"ports": [{"name": "a", "port_number": 80, "protocol": "http", "path": "no slash é"}] * 2},
        {"volumes": [["relative", "/x", True], ["/a/../b", "/x", True], [], {}, 3]},
        {"volumes": [["/a", "/x", True], ["/b", "/x", True]]},
        {"environment": [["A=B", "x"], ["A_B", "y"], ["", "z"], [], "x", ["only"]]},
        {"environment": None, "networks": None, "labels": ["", 3, "é"], "constraints": ["x"]},
        {"work_dir": "relative/{x}"},
        {"work_dir": "/a/{x}"},
        {"required_resources": {"memory": 1, "cores": 1e9}},
        {"required_resources": {"memory": "1e9", "cores": "nan"}},
        {"required_resources": 3},
        {"startup_order": 10**9},
        {"docker_image": "  strange image\n"},
        {"name": "日本"},
        {"unknown": {"deep": [1]}},
        {"replicas": 3},
    ],
)
def test_odd_values_are_left_out_or_mended(service: dict[str, Any]) -> None:
    document = v2()
    document["services"][0].update(service)
    assert application(document)
    assert convert(document).notes


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"version": 2},
        {"version": 9, "services": []},
        {"version": "x", "services": []},
        {"version": 1.5, "services": []},
        {"version": 2, "services": []},
        {"version": 2, "services": [3]},
        {"version": 2, "services": [{"name": "a"}]},
        {"version": 2, "services": [{"name": "a", "image": "b", "total_count": "many"}]},
        {"version": 1, "zapps": []},
    ],
)
def test_document_that_is_no_description_is_refused(document: object) -> None:
    with pytest.raises(DescriptionError):
        convert(document)
