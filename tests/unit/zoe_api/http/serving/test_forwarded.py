"""Address and scheme of the browser, as reported by trusted proxies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import run
from zoe_api.http.serving.forwarded import ForwardedDoor

BROWSER, NEAR, FAR = "198.51.100.7", "10.0.0.1", "10.0.0.2"


def seen(headers: dict[str, str | list[str]], client: str = NEAR, kind: str = "http") -> tuple[str, str]:
    found: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope)

    pairs = [
        (name.encode(), value.encode())
        for name, values in headers.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    scope = {"type": kind, "scheme": "http", "client": (client, 1), "headers": pairs}
    run(ForwardedDoor(app, [NEAR, FAR])(scope, None, None))
    return found[0]["client"][0], found[0]["scheme"]


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({}, (NEAR, "http")),
        ({"x-forwarded-for": BROWSER, "x-forwarded-proto": "https"}, (BROWSER, "https")),
        ({"x-forwarded-for": BROWSER, "x-forwarded-proto": "HTTPS"}, (BROWSER, "https")),
        ({"x-forwarded-for": BROWSER, "x-forwarded-proto": "ftp"}, (BROWSER, "http")),
        ({"x-forwarded-for": BROWSER, "x-forwarded-proto": ""}, (BROWSER, "http")),
        # Two proxies: the outer one saw the browser over TLS, the inner one saw the outer one without.
        ({"x-forwarded-for": f"{BROWSER}, {FAR}", "x-forwarded-proto": "https, http"}, (BROWSER, "https")),
        ({"x-forwarded-for": [BROWSER, FAR], "x-forwarded-proto": ["https", "http"]}, (BROWSER, "https")),
        # Entries before the browser's own position were written by the browser.
        ({"x-forwarded-for": f"203.0.113.9, {BROWSER}", "x-forwarded-proto": "https, http"}, (BROWSER, "http")),
        ({"x-forwarded-for": f"{BROWSER}, {FAR}", "x-forwarded-proto": "https"}, (BROWSER, "https")),
        ({"x-forwarded-for": f"{BROWSER}, {FAR}", "x-forwarded-proto": "http,, https, http"}, (BROWSER, "https")),
    ],
)
def test_a_trusted_proxy_tells_address_and_scheme(headers: dict[str, Any], told: tuple[str, str]) -> None:
    assert seen(headers) == told


def test_a_client_that_is_no_trusted_proxy_tells_nothing() -> None:
    assert seen({"x-forwarded-for": BROWSER, "x-forwarded-proto": "https"}, "192.0.2.1") == ("192.0.2.1", "http")
