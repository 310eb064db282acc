"""Ambiguous parts of a head, and of the lines around chunks."""

from __future__ import annotations

import io

import pytest

from storage_filters.wsgi.framing import (
    TRAILER_BYTES_MAX,
    AmbiguousRequestError,
    ChunkLines,
    check_head,
    check_headers,
    check_path,
    is_old,
)
from tests.support.framing import CHUNKS, HEADS, request


def parsed(head: bytes) -> list[tuple[str, str]]:
    lines = head.decode("latin-1").split("\r\n")[1:-2]
    return [(name, value.strip(" ")) for name, _, value in (line.partition(":") for line in lines)]


def check_both(head: bytes) -> None:
    check_head(head)
    check_headers(parsed(head))


@pytest.mark.parametrize("name", HEADS)
def test_a_head_with_two_readings_is_refused(name: str) -> None:
    head = request(name).partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    with pytest.raises(AmbiguousRequestError):
        check_both(head)


@pytest.mark.parametrize(
    ("lines", "old"),
    [
        ("Content-Length: 3\r\nX-A: b: c\t d\r\nx-object-meta-colour: \xfc\r\nX-Empty:\r\n", False),
        ("transfer-encoding: Chunked\r\n", False),
        ("", True),
        ("Content-Length: 0\r\n", True),
    ],
)
def test_a_head_with_one_reading_passes(lines: str, old: bool) -> None:
    head = f"PUT /v1/a/b HTTP/1.{'0' if old else '1'}\r\nHost: a\r\n{lines}\r\n".encode("latin-1")
    check_head(head)
    check_headers(parsed(head), is_old(head))


def test_the_first_version_has_no_codings() -> None:
    head = b"PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert is_old(head)
    with pytest.raises(AmbiguousRequestError, match=r"in HTTP/1\.1"):
        check_headers(parsed(head), True)


def read_as_eventlet(body: bytes) -> tuple[bytes, bytes]:
    """Return the body, and the rest on the connection."""
    file = io.BytesIO(body)
    return read_with(ChunkLines(file)), file.read()


def read_with(lines: ChunkLines) -> bytes:
    found = b""
    while size := int(lines.readline().split(b";", 1)[0], 16):
        left = size
        while left > 0:
            piece = lines.read(min(left, 2))
            assert piece, "the client broke off"
            left, found = left - len(piece), found + piece
        lines.readline()
    while lines.readline() not in (b"\r\n", b"\n", b""):
        pass
    return found


@pytest.mark.parametrize("name", CHUNKS)
def test_chunks_with_two_readings_are_refused_and_stay_refused(name: str) -> None:
    file = io.BytesIO(CHUNKS[name][1])
    lines = ChunkLines(file)
    with pytest.raises(AmbiguousRequestError):
        read_with(lines)
    for again in (lines.readline, lines.read):
        with pytest.raises(AmbiguousRequestError):
            again()
    assert lines.refused is not None


def test_chunks_with_one_reading_are_read_to_their_end() -> None:
    body = b"3;name=value\r\nabc\r\n0B ; x\r\n01234567890\r\n0\r\nX-A: b\r\n\r\nGET / HTTP/1.1\r\n"
    assert read_as_eventlet(body) == (b"abc01234567890", b"GET / HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "end", [b" folded\r\n\r\n", b"no colon\r\n\r\n", b"X: y\n\r\n", b"X: y\r\n" * (TRAILER_BYTES_MAX // 6 + 2)]
)
def test_trailers_are_checked_and_bounded(end: bytes) -> None:
    with pytest.raises(AmbiguousRequestError):
        read_as_eventlet(b"3\r\nabc\r\n0\r\nX-A: b\r\n" + end)


@pytest.mark.parametrize("path", ["//", "//x/y", "//../x", "", "*", "http://host/v1/a"])
def test_a_path_begins_with_one_slash(path: str) -> None:
    """By S3, Swift's proxy answered 500 with a traceback, also to strangers."""
    with pytest.raises(AmbiguousRequestError):
        check_path(path)


@pytest.mark.parametrize("path", ["/", "/v1/a/c/o", "/v1/a//o", "/bucket//key"])
def test_other_paths_pass(path: str) -> None:
    check_path(path)


def test_eventlet_and_swift_know_the_refusal() -> None:
    """Where a rest of a body was read after the answer, eventlet wrote a traceback."""
    assert issubclass(AmbiguousRequestError, OSError)
    assert issubclass(AmbiguousRequestError, ValueError)
    assert str(AmbiguousRequestError("why")) == "why"


def test_a_client_that_breaks_off_is_left_to_the_server() -> None:
    assert ChunkLines(io.BytesIO(b"")).readline() == b""
