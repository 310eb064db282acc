"""A body is read whole, or ends with the one error that Swift's filters answer."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from storage_filters.wsgi.whole_bodies import WholeBody, broke_off, put_whole_body


class BrokenOff(Exception):  # noqa: N818 - the name is the fact
    pass


class Raising:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, *_: object) -> bytes:
        raise self._error

    readline = read


READS: list[Callable[[WholeBody], bytes]] = [
    lambda body: body.read(),
    lambda body: body.read(9),
    lambda body: body.read(3) + body.read(3),
    lambda body: body.readline() + body.readline(),
]


@pytest.mark.parametrize("read", READS)
def test_fewer_bytes_than_announced_are_an_error_made_once(read: Callable[[WholeBody], bytes]) -> None:
    made: list[BrokenOff] = []

    def error() -> BrokenOff:
        made.append(BrokenOff())
        return made[-1]

    body = WholeBody(io.BytesIO(b"abcd"), 6, error)
    for _ in range(2):
        with pytest.raises(BrokenOff):
            read(body)
    assert len(made) == 1


@pytest.mark.parametrize("error", [OSError("unexpected end"), ValueError("no size"), ConnectionResetError()])
def test_each_error_of_the_server_is_the_same(error: Exception) -> None:
    for read in ("read", "readline"):
        with pytest.raises(BrokenOff):
            getattr(WholeBody(Raising(error), None, BrokenOff), read)(10)


def test_a_whole_body_is_read_to_its_end() -> None:
    body = WholeBody(io.BytesIO(b"ab\ncd\nGET / HTTP/1.1"), 6, BrokenOff)
    assert (body.readline(), body.read(3), body.read(0)) == (b"ab\n", b"cd\n", b"")
    assert list(WholeBody(io.BytesIO(b"a\nb"), 3, BrokenOff)) == [b"a\n", b"b"]
    assert WholeBody(io.BytesIO(b"chunks"), None, BrokenOff).read() == b"chunks"


def test_a_later_filter_sees_whether_the_client_broke_off() -> None:
    """Also from the environment that s3api makes of the first one."""
    env = {"wsgi.input": io.BytesIO(b"abcd")}
    assert not broke_off(env)
    put_whole_body(env, 6, BrokenOff)
    made = env.copy()
    assert not broke_off(made)
    with pytest.raises(BrokenOff):
        made["wsgi.input"].read()
    assert broke_off(env)
    assert broke_off(made)
