"""Headers between browsers and applications."""

from __future__ import annotations

import pytest

from zoe_api.apps.headers import is_sound, to_application, to_browser
from zoe_api.apps.targets import Target

TARGET = Target("10.0.0.1", 31000, "/lab", {"Authorization": "Bearer secret", "X-Zoe": "1"})
IPV6 = Target("2001:db8::1", 80, "/", {})


def sent(*headers: tuple[str, str], target: Target = TARGET) -> list[tuple[str, str]]:
    return list(to_application(headers, target, "https"))


OWN = [
    ("X-Forwarded-Proto", "https"),
    ("Host", "10.0.0.1:31000"),
    ("Authorization", "Bearer secret"),
    ("X-Zoe", "1"),
]


def test_an_application_gets_its_own_address_and_its_secret() -> None:
    assert sent() == OWN
    assert sent(target=IPV6)[1] == ("Host", "[2001:db8::1]:80")


@pytest.mark.parametrize(
    ("name", "value", "passed"),
    [
        ("accept", "text/html", ("accept", "text/html")),
        ("host", "e1.apps.example", ("X-Forwarded-Host", "e1.apps.example")),
        ("origin", "https://e1.apps.example", ("origin", "http://10.0.0.1:31000")),
        ("referer", "https://e1.apps.example/a?b", ("referer", "http://10.0.0.1:31000/a?b")),
        ("referer", "http://[", None),
        ("cookie", "a=b; zoe-session=x; __Host-zoe-app=y; c=d", ("cookie", "a=b; c=d")),
        ("cookie", "zoe-app=x;zoe-sign-in=y", None),
        ("x-forwarded-for", "1.2.3.4", None),
        ("x-forwarded-host", "evil", None),
        ("x-forwarded-proto", "http", None),
        ("x-real-ip", "1.2.3.4", None),
        ("forwarded", "for=1.2.3.4", None),
        ("authorization", "Bearer of the browser", None),
        ("x-zoe", "2", None),
        ("x_zoe", "2", None),
        ("x.zoe", "2", None),
        ("sec-websocket-key", "k", None),
        ("upgrade", "websocket", None),
        ("te", "trailers", None),
        ("transfer-encoding", "chunked", None),
        ("proxy-authorization", "x", None),
        ("keep-alive", "x", None),
    ],
)
def test_headers_of_zoe_or_one_hop_are_dropped(name: str, value: str, passed: tuple[str, str] | None) -> None:
    assert sent((name, value)) == ([] if passed is None else [passed]) + OWN


def test_headers_named_in_connection_are_dropped() -> None:
    assert sent(("connection", "close, X-A"), ("x-a", "1"), ("x-b", "2")) == [("x-b", "2"), *OWN]
    back = list(to_browser([("Connection", "X-A"), ("X-A", "1"), ("X-B", "2")], TARGET))
    assert back == [("X-B", "2")]


@pytest.mark.parametrize(
    ("name", "value", "passed"),
    [
        ("Content-Type", "text/html", "text/html"),
        ("Date", "x", None),
        ("server", "x", None),
        ("Transfer-Encoding", "chunked", None),
        ("Location", "http://10.0.0.1:31000/a?b#c", "/a?b#c"),
        ("location", "http://10.0.0.1:31000", "/"),
        ("Location", "http://10.0.0.1:31000//evil.example", "/.//evil.example"),
        ("Location", "http://10.0.0.1:31001/a", "http://10.0.0.1:31001/a"),
        ("Location", "/a", "/a"),
        ("Location", "http://[", "http://["),
        ("Set-Cookie", "a=b; Domain=example; Path=/; domain = x", "a=b; Path=/"),
        ("set-cookie", "zoe-session=x", None),
        ("set-cookie", "__Host-zoe-app = x; Path=/", None),
        ("set-cookie", " a=b ", "a=b"),
    ],
)
def test_redirects_and_cookies_stay_with_the_applications_origin(name: str, value: str, passed: str | None) -> None:
    assert list(to_browser([(name, value)], TARGET)) == ([] if passed is None else [(name, passed)])


@pytest.mark.parametrize(
    ("name", "value", "sound"),
    [
        (b"X-A", b"b \t\xff", True),
        (b"", b"", False),
        (b"X A", b"", False),
        (b"X:A", b"", False),
        (b"X", b"a\r\nb", False),
        (b"X", b"\0", False),
        (b"X", b"\x7f", False),
    ],
)
def test_headers_that_could_end_an_answer_are_not_sound(name: bytes, value: bytes, sound: bool) -> None:
    assert is_sound([(b"ok", b"ok"), (name, value)]) is sound
