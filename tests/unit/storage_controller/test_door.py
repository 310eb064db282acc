"""Tokens at the controller: the main token opens all routes, the one of metrics only these."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import MutableMapping
from typing import Any
from unittest import mock
from urllib.parse import unquote

import pytest
from fastapi import FastAPI

from storage_bridge.model import BandwidthSlo
from storage_controller.app import RequestCheck, make_app
from storage_controller.database.guarantee_store import Ledger
from storage_controller.promises.promisable import Promisable
from storage_controller.routes.services import Services
from storage_controller.swift.kept_views import KeptViews
from tests.support.controller_reports import GivenReports

Sent = list[tuple[str, str]]


@functools.cache
def door(metrics_token: str) -> FastAPI:
    ledger = Ledger(mock.Mock())
    views = KeptViews(ledger, mock.Mock(), mock.Mock())
    services = Services(ledger, Promisable(BandwidthSlo(1, 1)), GivenReports(), views)
    return make_app(services, RequestCheck("all", metrics_token=metrics_token))


def status(metrics_token: str, path: str, headers: dict[str, str], method: str = "GET") -> int:
    return knock(metrics_token, path, list(headers.items()), method)


def knock(metrics_token: str, path: str, headers: Sent, method: str = "GET", body: bytes | None = b"") -> int:
    """As a server calls the application: the path is decoded, and the headers are as they came.

    body: None if the client leaves before it.
    """
    raw, _, query = path.partition("?")
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http"}
    scope |= {"path": unquote(raw), "raw_path": raw.encode(), "query_string": query.encode(), "root_path": ""}
    scope |= {"headers": [(name.lower().encode(), value.encode()) for name, value in headers]}
    scope |= {"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "state": {}}
    answers: list[int] = []

    async def receive() -> dict[str, object]:
        if body is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        answers.extend([message["status"]] if "status" in message else [])

    asyncio.run(door(metrics_token)(scope, receive, send))
    return answers[0]


@pytest.mark.parametrize(
    ("path", "token", "expected"),
    [
        ("/metrics", "numbers", 200),
        ("/metrics", "all", 200),
        ("/metrics", "", 401),
        ("/metrics", "number", 401),
        ("/metrics/", "numbers", 401),
        ("/v1/proxies", "numbers", 401),
        ("/v1/proxies", "all", 200),
        ("/health", "", 200),
    ],
)
@pytest.mark.parametrize("header", ["X-Auth-Token", "Authorization"])
def test_a_token_opens_what_it_is_for(path: str, token: str, expected: int, header: str) -> None:
    value = token if header == "X-Auth-Token" else f"Bearer {token}"
    assert status("numbers", path, {header: value}) == expected


def test_without_a_token_of_metrics_nothing_stands_for_it() -> None:
    assert status("", "/metrics", {}) == 401
    assert status("", "/metrics", {"Authorization": "Bearer "}) == 401


PATHS = (
    *("/v1/proxies", "//v1/proxies", "/v1/proxies/", "/v1/owners/zoe/executions", "/metrics/../v1/proxies"),
    *(
        "/health/",
        "/health/../v1/proxies",
        "/health%2f..%2fv1/proxies",
        "/HEALTH",
        "/health;/v1/proxies",
        "/%2e/health",
    ),
    *("/v1/proxies?/health", "/v1/proxies%3F/health", "/v1/proxies%23/health", "//x/health", "/openapi.json", "/docs"),
)


@pytest.mark.parametrize("path", PATHS)
def test_no_spelling_of_a_path_and_no_host_opens_the_door(path: str) -> None:
    hosts = ("storage", "storage/health?", "storage/health#", "a@storage/metrics?", "/health", "", "storage:99999")
    for host in hosts:
        for name in ("X-Forwarded-Prefix", "X-Original-URL", "X-Rewrite-URL"):
            headers = [("Host", host), (name, "/health")]
            assert knock("numbers", path, headers) == 401, headers
            assert knock("numbers", path, [*headers, ("X-Auth-Token", "numbers")]) == 401, headers


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "health"])
def test_each_method_needs_the_token(method: str) -> None:
    for body in (b"", b'{"tenant": "acme"}', b"X-Auth-Token: all"):
        for headers in ([], [("X-HTTP-Method-Override", "GET")], [("Upgrade", "websocket"), ("Connection", "Upgrade")]):
            assert knock("numbers", "/v1/owners/zoe/executions/x1", headers, method, body) == 401


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Auth-Token", "al")],
        [("X-Auth-Token", "all ,all")],
        [("X-Auth-Token", "all, all")],
        [("X-Auth-Token", "ALL")],
        [("X-Auth-Token", "Bearer all")],
        [("Authorization", "Basic all")],
        [("Authorization", "Bearer Bearer all")],
        [("Authorization", "Bearer  all")],
        [("X-Auth-Token", "wrong"), ("X-Auth-Token", "all")],
        [("X-Auth-Token", "wrong"), ("Authorization", "Bearer all")],
        [("X-Storage-Token", "all")],
        [("X-Service-Token", "all")],
        [("Cookie", "X-Auth-Token=all")],
        [("X_Auth_Token", "all")],
    ],
)
def test_similar_token_is_refused(headers: Sent) -> None:
    assert knock("numbers", "/v1/proxies", headers) == 401
    assert knock("numbers", "/v1/proxies?X-Auth-Token=all&token=all", headers) == 401


@pytest.mark.parametrize("path", ["/registry/static_policy", "/v1/rules", "/filters"])
def test_a_client_that_leaves_within_its_body_is_no_error(path: str, caplog: pytest.LogCaptureFixture) -> None:
    assert knock("", path, [("X-Auth-Token", "all")], "POST", None) == 400
    assert caplog.records == []


@pytest.mark.parametrize("path", ["/swift/locality/a/b", "/v1/locality?tenant=t&source=s"])
def test_without_a_swift_its_questions_are_refused(path: str) -> None:
    assert knock("", path, [("X-Auth-Token", "all")]) == 409
