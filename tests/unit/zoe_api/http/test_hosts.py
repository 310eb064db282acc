"""The allowed host names of this Zoe."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.support.plain_api import run
from zoe_api.http.hosts import HostDoor, is_any, names_of
from zoe_lib.settings.config import Settings


def asked(hosts: list[str], kind: str = "http", **settings: Any) -> tuple[bool, int | None, dict[str, Any]]:
    """Return whether the request was forwarded, the status otherwise, and its state."""
    came: list[str] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        came.append(scope["type"])

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": "/api/v1/me", "headers": [(b"host", host.encode()) for host in hosts]}
    run(HostDoor(app, Settings(**settings))(scope, None, send))
    return bool(came), sent[0]["status"] if sent else None, scope.get("state", {})


@pytest.mark.parametrize(
    ("host", "settings"),
    [
        ("localhost:5100", {}),
        ("ada.localhost", {}),
        ("127.0.0.1", {}),
        ("10.1.2.3:80", {}),
        ("[2001:db8::1]", {}),
        (os.uname().nodename, {}),
        ("inside.example", {"api_host": "inside.example"}),
        ("zoe.example:444", {"public_url": "https://zoe.example"}),
        ("zoe.example", {"allowed_hosts": ["other.example", "ZOE.example"]}),
        ("evil.example", {"allowed_hosts": []}),
        ("evil.example", {"allowed_hosts": ["zoe.example", "*"]}),
    ],
)
def test_names_of_this_zoe_come_in(host: str, settings: dict[str, Any]) -> None:
    assert asked([host], **settings) == (True, None, {})


@pytest.mark.parametrize(
    ("host", "settings"),
    [
        ("evil.example", {}),
        ("evillocalhost", {}),
        ("localhost.evil.example", {}),
        ("evil.example", {"public_url": "https://zoe.example"}),
        ("sub.zoe.example", {"allowed_hosts": ["zoe.example"]}),
    ],
)
def test_another_name_is_refused_and_noted(host: str, settings: dict[str, Any]) -> None:
    assert asked([host], **settings) == (False, 421, {"refused": "host_not_allowed"})


@pytest.mark.parametrize("hosts", [[], ["localhost", "localhost"], ["local host"], [""]])
def test_a_request_without_one_valid_host_is_refused_even_if_any_is_allowed(hosts: list[str]) -> None:
    assert asked(hosts, allowed_hosts=["*"]) == (False, 400, {"refused": "http_error"})


def test_the_start_of_the_process_is_no_request() -> None:
    assert asked([], kind="lifespan")[0]


@pytest.mark.parametrize(
    ("allowed", "any_"), [(None, False), ([], True), (["*"], True), (["a", "*"], True), (["a"], False)]
)
def test_only_an_empty_setting_or_a_star_allows_any_name(allowed: list[str] | None, any_: bool) -> None:
    assert is_any(allowed) is any_


def test_names_of_settings_are_normal_and_without_addresses_of_nothing() -> None:
    found = names_of(Settings(public_url="http://Zoe.Example:81", allowed_hosts=["b.example."], api_host="127.0.0.1"))
    assert found == {"localhost", os.uname().nodename.lower(), "127.0.0.1", "zoe.example", "b.example"}
