"""Names and values of cookies, as browsers send them and as they are set."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from tests.support.plain_api import request
from zoe_api.http import cookies
from zoe_api.http.cookies import SESSION

SECRET, OTHER, LONG = "a" * 43, "b" * 43, "c" * 64


def sent(*lines: str, scheme: str = "http") -> list[str]:
    return cookies.secrets_in(request(headers=[("cookie", line) for line in lines], scheme=scheme), SESSION)


@pytest.mark.parametrize(
    ("scheme", "secure", "name"),
    [
        ("http", False, "zoe-session"),
        ("ws", False, "zoe-session"),
        ("https", True, "__Host-zoe-session"),
        ("wss", True, "__Host-zoe-session"),
    ],
)
def test_over_tls_a_cookie_has_the_prefix_that_binds_it_to_the_host(scheme: str, secure: bool, name: str) -> None:
    connection = request(scheme=scheme)
    assert cookies.is_secure(connection) is secure
    assert cookies.cookie_name(SESSION, secure) == name
    answer = Response()
    cookies.put(answer, connection, SESSION, SECRET, 59.6)
    set_ = answer.headers["set-cookie"]
    assert set_.startswith(f"{name}={SECRET}; HttpOnly; Max-Age=60; Path=/; SameSite=lax")
    assert ("Secure" in set_) is secure
    assert "Domain" not in set_
    answer = Response()
    cookies.remove(answer, connection, SESSION)
    gone = answer.headers["set-cookie"]
    assert gone.startswith(f'{name}=""; expires=')
    assert "Max-Age=0" in gone
    assert "HttpOnly" in gone
    assert ("Secure" in gone) is secure


def test_all_values_of_a_cookie_count_once_and_in_order() -> None:
    assert sent(f"zoe-session={OTHER}; a=b;zoe-session={SECRET}", f" zoe-session = {LONG} ; zoe-session={OTHER}") == [
        OTHER,
        SECRET,
        LONG,
    ]


@pytest.mark.parametrize(
    "value", ["", "a" * 42, "a" * 44, "a" * 63, "a" * 65, "a" * 42 + "=", "é" * 43, "a" * 42 + "."]
)
def test_a_value_that_is_no_secret_is_ignored(value: str) -> None:
    assert sent(f"zoe-session={value}") == []


def test_over_tls_a_cookie_without_the_prefix_is_not_ours() -> None:
    assert sent(f"zoe-session={SECRET}; __Host-zoe-session={OTHER}", scheme="https") == [OTHER]
    assert sent(f"zoe-session={SECRET}; __Host-zoe-session={OTHER}") == [SECRET]


def test_more_values_than_browsers_keep_are_ignored() -> None:
    values = [f"{number:043}" for number in range(cookies.VALUES_MAX + 1)]
    assert sent("; ".join(f"zoe-session={value}" for value in values)) == values[:180]


def test_a_cookie_is_sent_whatever_its_value() -> None:
    assert cookies.is_sent(request(headers={"cookie": "zoe-session=x"}), SESSION)
    assert not cookies.is_sent(request(headers={"cookie": "zoe-session2=x; zoe-app=y"}), SESSION)
    assert not cookies.is_sent(request(), SESSION)


def test_no_application_may_set_any_of_our_names() -> None:
    assert {
        *("zoe-session", "zoe-app", "zoe-sign-in", "zoe-by-address"),
        *("__Host-zoe-session", "__Host-zoe-app", "__Host-zoe-sign-in", "__Host-zoe-by-address"),
    } == cookies.OURS
