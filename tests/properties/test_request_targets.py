"""Whatever bytes a client writes as request target: the proxy connects to the application, or to nothing.

Over raw sockets, with every parser of HTTP and WebSockets that uvicorn has here.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.proxied import DOMAIN, UPGRADE, Proxied

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "100"))


PIECES = [
    b"/",
    b"//",
    b"@",
    b"OTHER",
    b"OTHER/x",
    b"http://",
    b"ws://",
    b":",
    b"?",
    b"#",
    b"\\",
    b"*",
    b"%2f",
    b"..",
    b";",
    b"a",
]
targets = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=6).map(b"".join),
    st.text("/?&=;:@!$'()*+,-._~%0aZ|{}[]^`\"<>", max_size=30).map(lambda text: b"/" + text.encode()),
)
ATTACKS = [
    b"@OTHER/metrics",
    b"http://OTHER/",
    b"OTHER",
    b"//OTHER/",
    b"/\\OTHER/",
    b"\\\\OTHER/",
    b"?@OTHER/",
    b"#@OTHER/",
]


def with_attacks(test: Any) -> Any:
    for target in (*ATTACKS, b"", b"*", b"/\xff", b"/\x00", b"/a\rb", b"/\nHost:x", b"/ HTTP/1.1\r\n\r\nGET @OTHER"):
        test = example(target)(test)
    return test


@with_attacks
@given(targets)
@settings(max_examples=CHECKS)
def test_a_request_reaches_the_application_or_nothing(over_http: Proxied, target: bytes) -> None:
    over_http.check(target, b"Connection: close\r\n")


@with_attacks
@given(targets)
@settings(max_examples=CHECKS)
def test_a_websocket_reaches_the_application_or_nothing(over_websockets: Proxied, target: bytes) -> None:
    over_websockets.check(target, UPGRADE)


PATHS = [
    b"/",
    b"//evil.example/x",
    b"/a;b=1/c?d=%2F&e=|{}^",
    b"/@OTHER/",
    b"/x?http://OTHER/",
    b"/a%20b",
    b"/?a\\b",
    b"/:80",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_passes_byte_by_byte(over_http: Proxied, path: bytes) -> None:
    assert over_http.check(path, b"Connection: close\r\n") == b"200"


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_a_websocket_passes_byte_by_byte(over_websockets: Proxied, path: bytes) -> None:
    assert over_websockets.check(path, UPGRADE) == b"101"


def test_an_application_cannot_send_the_proxy_elsewhere(over_websockets: Proxied) -> None:
    assert over_websockets.check(b"/away?OTHER", UPGRADE) == b"403"


@pytest.mark.parametrize("host", [f"e1.{DOMAIN}", "localhost"])
def test_target_that_is_no_path_is_refused(over_http: Proxied, host: str) -> None:
    for target in (b"@OTHER/metrics", b"OTHER", b"?a", b"*", b"\\OTHER", b"/\\OTHER/"):
        assert over_http.send(target, b"Connection: close\r\n", host) == b"400", target
