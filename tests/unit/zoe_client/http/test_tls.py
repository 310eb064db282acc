"""Trust of clients: for plain HTTP no list of authorities is read, and TLS would be refused."""

from __future__ import annotations

import ssl

import pytest

from zoe_client.http.tls import verification


@pytest.mark.parametrize("url", ["http://127.0.0.1:5100", "HTTP://zoe.example.org"])
def test_plain_http_trusts_nobody(url: str) -> None:
    context = verification(url)
    assert isinstance(context, ssl.SSLContext)
    assert (context.get_ca_certs(), context.verify_mode, context.check_hostname) == ([], ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize("url", ["https://zoe.example.org", "HTTPS://zoe.example.org"])
def test_everything_else_is_verified_as_httpx_does(url: str) -> None:
    assert verification(url) is True
