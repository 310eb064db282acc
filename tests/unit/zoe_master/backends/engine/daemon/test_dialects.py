"""Podman's words, and what Docker says in its place."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_master.backends.engine.daemon.dialects import docker_event, docker_status, short_name, signals_of, with_limits


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ('container create: the container name "twice" is already in use by 4546', 409),
        ("network name n1 already used: network already exists", 409),
        ("can only kill running containers. 2c9a is in state exited: container state improper", 409),
        ("volume v is being used by the following container(s): 63c7", 403),
        ('runc: runc create failed: exec: "x": not found: OCI runtime attempted to invoke a command', 400),
        ("netavark: cannot lock", 500),
    ],
)
def test_refusals_have_dockers_status(words: str, status: int) -> None:
    assert docker_status(words) == status


@pytest.mark.parametrize(
    ("image", "short"),
    [
        ("docker.io/library/shell:latest", "shell:latest"),
        ("docker.io/zoe/python:1", "zoe/python:1"),
        ("localhost/zoe/python:1", "zoe/python:1"),
        ("registry.example/zoe/python:1", "registry.example/zoe/python:1"),
    ],
)
def test_images_have_short_names(image: str, short: str) -> None:
    assert short_name(image) == short


def event(kind: str, action: str, **attributes: str) -> dict[str, Any]:
    return {"Type": kind, "Action": action, "Actor": {"ID": "c1", "Attributes": attributes}}


def test_events_have_dockers_names() -> None:
    assert docker_event(event("container", "remove"))["Action"] == "destroy"
    assert docker_event(event("container", "die"))["Action"] == "die"
    assert docker_event(event("network", "disconnect"))["Actor"]["Attributes"]["container"] == "c1"
    of_docker = event("network", "disconnect", container="c2")
    assert docker_event(of_docker) == of_docker


def test_a_signal_that_is_not_told_may_be_any() -> None:
    assert signals_of({"signal": "15"}) == {15}
    assert signals_of({"signal": "SIGTERM"}) == frozenset()
    assert signals_of({}) >= {9, 15}


def test_limits_are_given_with_those_that_podman_would_add() -> None:
    core = {"Name": "core", "Soft": 0, "Hard": 0}
    found = with_limits({"Ulimits": [core], "LogConfig": {"Type": "local", "Config": {}}})
    assert found["Ulimits"][0] == core
    assert {limit["Name"] for limit in found["Ulimits"]} == {"core", "nofile", "nproc"}
    assert found["LogConfig"]["Type"] == "json-file"
    assert with_limits({"Ulimits": []})["Ulimits"] == []
