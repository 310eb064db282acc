"""Words for failed connections: never the texts of HTTP libraries."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
import requests

from zoe_client.words.connections import failure_words


@contextmanager
def listening() -> Iterator[str]:
    """The URL of a port that accepts connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def closed() -> str:
    with listening() as url:
        return url


@pytest.mark.parametrize("get", [requests.get, httpx.get])
def test_real_failures_of_two_libraries_have_the_same_words(get: Callable[..., object]) -> None:
    with pytest.raises((requests.RequestException, httpx.HTTPError)) as refused:
        get(closed(), timeout=5)
    assert failure_words(refused.value) == "connection refused"
    with listening() as url, pytest.raises((requests.RequestException, httpx.HTTPError)) as silent:
        get(url, timeout=0.05)
    assert failure_words(silent.value) == "it did not answer in time"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EHOSTUNREACH, "x"), "no route to host"),
        (httpx.RemoteProtocolError("Server disconnected without sending a response."), "the connection broke"),
        (requests.ConnectionError(ConnectionResetError(errno.ECONNRESET, "x")), "connection reset by peer"),
        (socket.gaierror(-2, "Name or service not known"), "its name cannot be resolved"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), "the TLS connection failed: "),
        (httpx.ReadTimeout(""), "it did not answer in time"),
        (
            httpx.HTTPStatusError("x", request=httpx.Request("GET", "http://x"), response=httpx.Response(503)),
            "it answered 503",
        ),
    ],
)
def test_each_kind_has_its_words(error: Exception, words: str) -> None:
    assert failure_words(error).startswith(words)
