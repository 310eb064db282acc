"""Bodies of requests: size limits, and strict JSON before any other code reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.plain_api import run
from zoe_api.http.serving import body
from zoe_api.http.serving.body import BodyMiddleware
from zoe_api.http.turns import Turns


def sent(
    *pieces: bytes,
    bytes_max: int = 10,
    headers: dict[bytes, bytes] | None = None,
    method: str = "POST",
    path: str = "/api/v1/executions",
    gone: bool = False,
    kind: str = "http",
) -> tuple[bytes | None, int | None, Any]:
    """Return what the application reads, or None; the status of a refusal; and the scope."""
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    if messages and not gone:
        messages[-1]["more_body"] = False
    messages.append({"type": "http.disconnect"})
    read: list[Any] = []
    answered: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        answered.append(message)

    async def app(scope: Any, inner: Any, send: Any) -> None:
        read.append(await inner())
        if kind == "http" and not body.is_upload(scope):
            assert (await inner())["type"] == "http.disconnect"

    scope = {"type": kind, "method": method, "path": path, "headers": list((headers or {}).items())}
    run(BodyMiddleware(app, bytes_max, Turns())(scope, receive, send))
    got = read[0].get("body") if read else None
    return got, answered[0]["status"] if answered else None, scope


JSON = {b"content-type": b"application/json"}


@pytest.mark.parametrize("pieces", [(b"",), (b"0123456789",), (b"01234", b"56789"), (b"", b"x")])
def test_a_body_within_the_bound_is_passed_on_whole(pieces: tuple[bytes, ...]) -> None:
    assert sent(*pieces)[:2] == (b"".join(pieces), None)


@pytest.mark.parametrize("pieces", [(b"0123456789a",), (b"012345678", b"9a")])
def test_a_larger_one_is_refused(pieces: tuple[bytes, ...]) -> None:
    assert sent(*pieces)[:2] == (None, 413)


@pytest.mark.parametrize(
    ("declared", "allowed"),
    [(b"10", True), (b"11", False), (b"x", False), (b"-1", False), (b"", False), (b"0" * 18, True), (b"0" * 19, False)],
)
def test_a_declared_length_is_believed_before_anything_is_read(declared: bytes, allowed: bool) -> None:
    got, status, _ = sent(b"x", headers={b"content-length": declared})
    assert (got, status) == ((b"x", None) if allowed else (None, 413))


def test_a_client_that_leaves_is_not_answered() -> None:
    assert sent(b"x", gone=True)[:2] == (None, None)


@pytest.mark.parametrize(
    ("method", "path", "checked"),
    [
        ("PATCH", "/api/v1/files/workspace/uploads/1", False),
        ("POST", "/api/v1/files/workspace/uploads", True),
        ("PATCH", "/api/v1/executions/1", True),
    ],
)
def test_parts_of_uploads_pass_as_they_come(method: str, path: str, checked: bool) -> None:
    _, status, _ = sent(b"x" * 11, method=method, path=path)
    assert status == (413 if checked else None)


def test_a_web_socket_has_no_body() -> None:
    assert sent(b"x" * 11, kind="websocket")[1] is None


@pytest.mark.parametrize(
    ("kind", "json_"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=utf-8", True),
        (b"application/merge-patch+json", True),
        (b"text/json", False),
        (b"text/x+json", False),
        (b"application/json5", False),
        (b"application/octet-stream", False),
        (b"", False),
    ],
)
def test_body_of_a_json_type_is_checked(kind: bytes, json_: bool) -> None:
    got, status, scope = sent(b"{", headers={b"content-type": kind})
    assert (got, status) == ((None, 400) if json_ else (b"{", None))
    assert scope.get("state", {}).get("refused") == ("invalid_json" if json_ else None)


@pytest.mark.parametrize(
    "text",
    ["", "{}", '{"a": [1, "b", null]}', '"\\u00e9"', '"\\ud83d\\ude00"', '["\\ud7ff", "\\ue000"]', '"\\\\u0000"'],
)
def test_strict_json_passes(text: str) -> None:
    assert sent(text.encode(), bytes_max=100, headers=JSON)[:2] == (text.encode(), None)


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 1, "a": 2}', "[NaN]", "[1", '"\\u0000"', '"\\ud800"', '["\\udfff"]', '{"\\ud800": 1}'),
        *('{"a": {"b": ["\\udc00"]}}', '"\\ud83d"'),
    ],
)
def test_invalid_json_or_unstorable_text_is_refused(text: str) -> None:
    assert sent(text.encode(), bytes_max=100, headers=JSON)[:2] == (None, 400)


def test_a_large_body_is_checked_as_well() -> None:
    large = json.dumps(["x" * 20_000]).encode()
    assert sent(large, bytes_max=1 << 20, headers=JSON)[:2] == (large, None)
    assert sent(large[:-1], bytes_max=1 << 20, headers=JSON)[1] == 400
