"""Headers and status from a client or an application: the proxy forwards valid ones, and its own alone.

Over raw sockets, with every parser of HTTP and WebSockets that uvicorn has here.
"""

from __future__ import annotations

import logging
import os
import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.proxied import DOMAIN, SECRET, UPGRADE, Proxied

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "100"))
CLOSE = b"Connection: close\r\n"


# -- from clients ------------------------------------------------------------------------------------------------------
OURS = ["x-zoe-secret", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "host", "content-length"]


@st.composite
def folding(draw: st.DrawFn) -> bytes:
    """A name that some server may read as one that only the proxy writes."""
    name = draw(st.sampled_from(OURS))
    parts = name.split("-")
    mixed = parts[0] + "".join(draw(st.sampled_from("-_.~!*'+^`|$%&#")) + part for part in parts[1:])
    return (mixed.upper() if draw(st.booleans()) else mixed).encode()


def fold(name: bytes) -> bytes:
    return re.sub(rb"[^a-z0-9]", b"-", name.lower())


def received(proxied: Proxied, more: bytes) -> dict[bytes, list[bytes]]:
    """The headers that the application got, by their names as a server that folds reads them."""
    before = len(proxied.application.heads)
    status = proxied.send(b"/", more)
    heads = proxied.application.heads[before:]
    assert heads or status == b"400", status
    found: dict[bytes, list[bytes]] = {}
    for line in heads[0].split(b"\r\n")[1:-2] if heads else ():
        name, _, value = line.partition(b":")
        assert re.fullmatch(rb"[A-Za-z0-9-]+", name), name
        found.setdefault(fold(name), []).append(value.strip())
    return found


def check_ours(found: dict[bytes, list[bytes]]) -> None:
    if found:
        assert found[b"x-zoe-secret"] == [b"s3cret"]
        assert found[b"x-forwarded-proto"] in ([b"http"], [b"ws"])
        assert found[b"x-forwarded-host"] == [f"e1.{DOMAIN}".encode()]
        assert b"x-forwarded-for" not in found
        assert len(found[b"host"]) == 1
        assert b"evil" not in b"".join(value for values in found.values() for value in values)


@example(b"x_zoe_secret")
@example(b"X.Zoe.Secret")
@given(folding())
@settings(max_examples=CHECKS)
def test_no_name_that_servers_fold_passes(over_http: Proxied, name: bytes) -> None:
    if name.lower() in (b"host", b"content-length", b"content_length"):
        return  # such a request is refused by the parser, or is no other's
    check_ours(received(over_http, CLOSE + name + b": evil\r\n"))


@example(b"x_zoe_secret")
@given(folding())
@settings(max_examples=CHECKS // 4)
def test_no_name_that_servers_fold_passes_with_a_websocket(over_websockets: Proxied, name: bytes) -> None:
    if name.lower() in (b"host", b"content-length", b"content_length"):
        return
    check_ours(received(over_websockets, UPGRADE + name + b": evil\r\n"))


names = st.text("abcxyz-", min_size=1, max_size=8).map(lambda text: f"n{text}".encode())


@given(st.lists(names, min_size=1, max_size=4, unique=True), st.sampled_from([b",", b", ", b" ,\t"]))
@settings(max_examples=CHECKS)
def test_headers_named_in_connection_by_a_client_are_dropped(
    over_http: Proxied, dropped: list[bytes], comma: bytes
) -> None:
    head = b"Connection: close" + comma + comma.join(dropped).upper() + b"\r\nKept: 1\r\n"
    found = received(over_http, head + b"".join(name + b": evil\r\n" for name in dropped))
    check_ours(found)
    assert found[b"kept"] == [b"1"]


def test_own_headers_pass_whatever_connection_names(over_http: Proxied) -> None:
    check_ours(received(over_http, b"Connection: close, x-zoe-secret, x-forwarded-proto\r\n"))


# -- from applications -------------------------------------------------------------------------------------------------
def answered(proxied: Proxied, answer: bytes, caplog: pytest.LogCaptureFixture) -> tuple[bytes, list[bytes]]:
    """Status and lines of the head that the browser gets; nothing is logged as a failure."""
    caplog.clear()
    proxied.application.answer = answer
    try:
        cookie = f"Host: e1.{DOMAIN}\r\nCookie: zoe-app={SECRET}\r\n".encode()
        got = proxied.exchange(b"GET / HTTP/1.1\r\n" + cookie + CLOSE + b"\r\n")
    finally:
        proxied.application.answer = b""
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    status, *lines = got.partition(b"\r\n\r\n")[0].split(b"\r\n")
    return status.split(b" ")[1], lines


statuses = st.one_of(st.integers(0, 1200).map(lambda n: b"%d" % n), st.binary(max_size=6))
BODY = b"Content-Length: 2\r\nConnection: close\r\n\r\nok"
no_fixture_checks = [HealthCheck.function_scoped_fixture]


@example(b"999")
@example(b"600")
@example(b"100")
@example(b"101")
@example(b"000")
@example(b"204")
@example(b"205")
@example(b"304")
@given(statuses)
@settings(max_examples=CHECKS, suppress_health_check=no_fixture_checks)
def test_a_status_passes_or_is_a_bad_gateway(
    over_http: Proxied, caplog: pytest.LogCaptureFixture, status: bytes
) -> None:
    told, _ = answered(over_http, b"HTTP/1.1 " + status + b" Said\r\n" + BODY, caplog)
    assert told in (status[:3], b"502")
    if re.fullmatch(rb"[2-5][0-9][0-9]", status):
        assert told == status
    elif re.fullmatch(rb"[0-9]+", status):
        assert told == b"502"


lines = st.lists(
    st.one_of(st.binary(max_size=12), st.text("ab:\t \r\n;=\x00\x7f\u00ff", max_size=12).map(str.encode)), max_size=3
)


@example([b"a: \x01"])
@example([b"a\x00b: c"])
@example([b"a : b"])
@example([b"a: b", b" folded"])
@example([b"Content-Length: x"])
@example([b"Content-Length: 2, 2"])
@given(lines)
@settings(max_examples=CHECKS, suppress_health_check=no_fixture_checks)
def test_headers_pass_or_are_a_bad_gateway(
    over_http: Proxied, caplog: pytest.LogCaptureFixture, lines: list[bytes]
) -> None:
    whole = b"HTTP/1.1 200 OK\r\n" + b"".join(line + b"\r\n" for line in lines)
    assert answered(over_http, whole + BODY, caplog)[0] in (b"200", b"502")


@given(st.lists(names, min_size=1, max_size=4, unique=True), st.sampled_from([b",", b", ", b" ,\t"]))
@settings(max_examples=CHECKS, suppress_health_check=no_fixture_checks)
def test_headers_named_in_connection_by_an_application_are_dropped(
    over_http: Proxied, caplog: pytest.LogCaptureFixture, dropped: list[bytes], comma: bytes
) -> None:
    named = b"Connection: " + comma.join(dropped).upper() + b"\r\nKept: 1\r\n"
    sent = b"".join(name + b": evil\r\n" for name in dropped)
    status, got = answered(over_http, b"HTTP/1.1 200 OK\r\n" + named + sent + BODY, caplog)
    assert status == b"200"
    assert b"kept: 1" in [line.lower() for line in got]
    assert not [line for line in got if b"evil" in line]


# -- strangers ---------------------------------------------------------------------------------------------------------
labels = st.one_of(
    st.sampled_from(["e1", "e1-1", "e2", "e1-x", "-", "xn--a"]), st.text("e12-x", min_size=1, max_size=8)
)
paths = st.sampled_from([b"/", b"/lab", b"/.zoe/enter", b"/.zoe/enter?ticket=", b"/.zoe/enter?ticket=abc"])
cookies = st.sampled_from([b"", b"Cookie: zoe-app=x\r\n", b"Cookie: zoe-app=" + b"q" * 43 + b"\r\n"])


@example("e1", b"/.zoe/enter?ticket=guessed", b"")
@given(labels, paths, cookies)
@settings(max_examples=CHECKS)
def test_unknown_caller_cannot_tell_existing_hosts(over_http: Proxied, label: str, path: bytes, cookie: bytes) -> None:
    before = len(over_http.looked_up), over_http.application.connections

    def asked(host: str) -> bytes:
        named = f"Host: {host}.{DOMAIN}\r\n".encode()
        answer = over_http.exchange(b"GET " + path + b" HTTP/1.1\r\n" + named + cookie + CLOSE + b"\r\n")
        return re.sub(rb"date: [^\r]*", b"", answer)

    assert asked(label) == asked("nowhere")
    assert (len(over_http.looked_up), over_http.application.connections) == before
