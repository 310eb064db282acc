"""Bodies that are too large, or invalid."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.documents import job

MIB = 1 << 20
HUGE_BYTES = 100 * MIB
# What sockets on both sides and one read of the server may hold.
BUFFERED_BYTES_MAX = 24 * MIB


def post(api: Api, *framing: str, host: str = "localhost") -> socket.socket:
    address = urlsplit(api.url)
    connection = socket.create_connection((address.hostname, address.port), timeout=30)
    lines = ["POST /api/v1/executions HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {api.token}"]
    connection.sendall("\r\n".join([*lines, "Content-Type: application/json", *framing, "", ""]).encode())
    return connection


def pour(connection: socket.socket, piece: bytes) -> int:
    """Send the piece until 100 MB are sent or the server stops reading; return the bytes sent."""
    sent = 0
    try:
        while sent < HUGE_BYTES:
            connection.sendall(piece)
            sent += len(piece)
    except OSError:
        return sent
    return sent


def status_line(connection: socket.socket) -> bytes:
    return connection.recv(4096).split(b"\r\n", 1)[0]


def test_a_declared_100_mb_are_refused_before_they_come(api: Api) -> None:
    with post(api, f"Content-Length: {HUGE_BYTES}", "Expect: 100-continue") as connection:
        assert status_line(connection) == b"HTTP/1.1 413 Request Entity Too Large" or b" 413 " in status_line(
            connection
        )


@pytest.mark.parametrize(
    ("framing", "piece"),
    [
        (f"Content-Length: {HUGE_BYTES}", b"x" * 65536),
        ("Transfer-Encoding: chunked", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    ],
    ids=["declared", "chunked"],
)
def test_100_mb_are_refused_without_being_read(api: Api, framing: str, piece: bytes) -> None:
    with post(api, framing) as connection:
        assert pour(connection, piece) < BUFFERED_BYTES_MAX
        assert b" 413 " in status_line(connection)
    assert api.http().get("/api/v1/executions").json()["executions"] == []


@pytest.mark.parametrize(
    ("host", "header"),
    [("elsewhere.example", ""), ("localhost", "Origin: http://elsewhere.example\r\n"), ("x1-1.apps.localhost", "")],
    ids=["another name", "another origin", "no way into an application"],
)
def test_body_of_a_request_refused_earlier_is_not_read(api: Api, host: str, header: str) -> None:
    with post(api, f"{header}Content-Length: {HUGE_BYTES}", host=host) as connection:
        assert pour(connection, b"x" * 65536) < BUFFERED_BYTES_MAX


def test_a_chunked_body_within_the_bound_is_read(api: Api) -> None:
    text = json.dumps({"application": job()}).encode()
    with post(api, "Transfer-Encoding: chunked", "Connection: close") as connection:
        for byte in (text[:10], text[10:]):
            connection.sendall(f"{len(byte):x}\r\n".encode() + byte + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert status_line(connection) == b"HTTP/1.1 201 Created"


def test_a_body_that_never_arrives_starts_nothing(api: Api) -> None:
    with post(api, "Content-Length: 1000") as connection:
        connection.sendall(b'{"application": {')
    assert api.http().get("/healthz").text == "ok"


BAD_BODIES = {
    "nothing": b"",
    "not json": b"{",
    "not utf-8": b'{"application": "\xff"}',
    "utf-16": '{"application": {}}'.encode("utf-16"),
    "a list": b"[]",
    "a number": b"1e999",
    "NaN": b'{"application": {"version": NaN}}',
    "a long number": b'{"application": {"version": ' + b"9" * 10_000 + b"}}",
    "deep": b'{"application": ' + b"[" * 100_000,
    "deep and closed": b'{"application": {"a": ' + b"[" * 30 + b"]" * 30 + b"}}",
    "twice the same key": b'{"application": {}, "application": {}}',
    "half of a surrogate pair": rb'{"application": {"version": 4, "name": "\ud800"}}',
    "half a pair as a key": rb'{"application": {"\udfff": 4}}',
    "a NUL": rb'{"application": {}, "name": "\u0000"}',
    "many unknown keys": json.dumps({f"key{n}": n for n in range(20_000)}).encode(),
}


@pytest.mark.parametrize("path", ["executions", "validate", "convert", "tokens"])
@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_a_clear_refusal(shared_api: Api, path: str, name: str) -> None:
    headers = {"Content-Type": "application/json"}
    response = shared_api.http().post(f"/api/v1/{path}", content=BAD_BODIES[name], headers=headers)
    assert response.status_code in (400, 422)
    told = problem(response)
    assert told["errors"]
    assert len(response.content) < MIB


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_only_json_is_taken(shared_api: Api, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    content = json.dumps({"application": job()}).encode()
    response = shared_api.http().post("/api/v1/executions", content=content, headers=headers)
    assert problem(response)["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("executions", {"application": job(), "deadline_s": 1e300}),
        ("executions", {"application": job(), "priority": 10**30}),
        ("executions", {"application": job(), "name": "n" * 129}),
        ("tokens", {"lifetime_s": 1e300}),
        ("tokens", {"scopes": ["root"]}),
    ],
)
def test_absurd_values_are_refused(shared_api: Api, path: str, body: dict[str, object]) -> None:
    response: httpx.Response = shared_api.http().post(f"/api/v1/{path}", json=body)
    assert problem(response)["code"] == "invalid_request"
