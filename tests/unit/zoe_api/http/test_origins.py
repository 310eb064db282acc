"""Which origins are a request's own, as browsers see them."""

from __future__ import annotations

import pytest

from zoe_api.http.origins import foreign, origin_of


def asked(origin: str, host: str, scheme: str = "http", public: str | None = None) -> bool:
    headers = [(b"origin", origin.encode()), (b"host", host.encode())]
    return foreign({"type": "http", "scheme": scheme, "headers": headers}, origin_of(public or ""))


@pytest.mark.parametrize(
    ("origin", "host", "scheme"),
    [
        ("http://zoe.example", "zoe.example", "http"),
        ("http://zoe.example", "ZOE.example:80", "http"),
        ("http://zoe.example:5100", "zoe.example:5100", "http"),
        ("https://zoe.example", "zoe.example", "https"),
        ("https://zoe.example", "zoe.example:443", "https"),
        ("https://zoe.example", "zoe.example", "wss"),
        ("http://[::1]:5100", "[::1]:5100", "ws"),
    ],
)
def test_the_ownorigin_of_passes(origin: str, host: str, scheme: str) -> None:
    assert not asked(origin, host, scheme)


@pytest.mark.parametrize(
    ("origin", "host", "scheme"),
    [
        ("http://zoe.example", "zoe.example", "https"),  # a page written by a third party on the network
        ("https://zoe.example", "zoe.example", "http"),
        ("https://zoe.example:80", "zoe.example:80", "http"),
        ("http://zoe.example:443", "zoe.example", "https"),
        ("http://zoe.example:5101", "zoe.example:5100", "http"),
        ("http://other.example", "zoe.example", "http"),
        ("ftp://zoe.example", "zoe.example", "http"),
        ("null", "zoe.example", "http"),
        ("", "", "http"),
        ("zoe.example", "zoe.example", "http"),
        ("http://[", "zoe.example", "http"),
    ],
)
def test_every_other_is_foreign(origin: str, host: str, scheme: str) -> None:
    assert asked(origin, host, scheme)


def test_public_url_counts_for_its_own_host_only() -> None:
    assert not asked("https://zoe.example", "zoe.example", "http", "https://zoe.example")
    assert asked("https://other.example", "other.example", "http", "https://zoe.example")
    assert asked("https://zoe.example", "zoe.example:5100", "http", "https://zoe.example")
