"""The HTTP proxy for a server, from the environment."""

from __future__ import annotations

import pytest

from zoe_client.http.proxies import proxy_for


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_without_variables_there_is_no_proxy() -> None:
    assert proxy_for("https://zoe.example.org") is None


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://zoe.example.org", "http://secure.example.org:3128"),
        ("http://zoe.example.org:5100", "http://plain.example.org:3128"),
        ("http://localhost:5100", None),
        ("http://zoe.localhost:5100", None),
        ("http://127.0.0.1:5100", None),
        ("http://[::1]:5100", None),
        ("https://zoe.inside.example.org", None),
    ],
)
def test_a_scheme_has_its_proxy_except_for_this_machine_and_no_proxy(
    url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "secure.example.org:3128")
    monkeypatch.setenv("http_proxy", "http://plain.example.org:3128")
    monkeypatch.setenv("NO_PROXY", ".inside.example.org")
    assert proxy_for(url) == proxy


def test_one_proxy_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://all.example.org:3128")
    assert proxy_for("https://zoe.example.org") == "http://all.example.org:3128"
