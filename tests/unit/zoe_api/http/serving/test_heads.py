"""The size limit on the head of a request."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import run
from zoe_api.http.serving.heads import HEAD_BYTES_MAX, READ_BYTES_MAX, HeadDoor, is_too_large, too_large


def size(method: str, target: bytes, *headers: tuple[bytes, bytes]) -> int:
    lines = [f"{method} ".encode() + target + b" HTTP/1.1", *(b"%s: %s" % header for header in headers), b"", b""]
    return len(b"\r\n".join(lines))


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_a_head_counts_as_it_is_on_the_wire(more: int, refused: bool) -> None:
    rest = HEAD_BYTES_MAX - size("POST", b"/", (b"host", b"zoe"), (b"a", b""))
    headers = [(b"host", b"zoe"), (b"a", b"x" * (rest + more))]
    assert size("POST", b"/", *headers) == HEAD_BYTES_MAX + more
    assert is_too_large("POST", b"/", headers) is refused
    target = b"/" + b"x" * (rest + more)
    assert is_too_large("POST", target, [(b"host", b"zoe"), (b"a", b"")]) is refused


def passed(kind: str, path: str, query: bytes, raw: bool) -> bool:
    came: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        came.append(scope)

    async def send(message: Any) -> None:
        return None

    scope = {"type": kind, "method": "GET", "path": path, "query_string": query, "headers": []}
    run(HeadDoor(app)(scope | ({"raw_path": path.encode()} if raw else {}), None, send))
    return bool(came)


@pytest.mark.parametrize("raw", [True, False])
def test_path_and_query_are_a_part_of_the_head(raw: bool) -> None:
    line = len("GET  HTTP/1.1\r\n\r\n")
    assert passed("http", "/" * (HEAD_BYTES_MAX - line), b"", raw)
    assert not passed("http", "/" * (HEAD_BYTES_MAX - line + 1), b"", raw)
    assert passed("http", "/", b"q" * (HEAD_BYTES_MAX - line - 2), raw)
    assert not passed("http", "/", b"q" * (HEAD_BYTES_MAX - line - 1), raw)
    assert passed("websocket", "/" * HEAD_BYTES_MAX, b"", raw)


def test_more_of_a_head_is_read_than_is_granted() -> None:
    assert (HEAD_BYTES_MAX, READ_BYTES_MAX) == (65536, 131072)
    assert (too_large().status, too_large().code) == (431, "head_too_large")
    assert "65536" in too_large().detail
