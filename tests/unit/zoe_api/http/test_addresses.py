"""Addresses of clients, and host names as requests write them."""

from __future__ import annotations

import pytest

from tests.support.plain_api import request
from zoe_api.http.addresses import address_of, host_name, parts_of


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("zoe.example", "zoe.example"),
        ("ZOE.Example.", "zoe.example"),
        ("zoe.example:80", "zoe.example"),
        ("zoe.example:", "zoe.example"),
        ("zoe.example:0", "zoe.example"),
        ("zoe.example:65535", "zoe.example"),
        ("192.0.2.1:5100", "192.0.2.1"),
        ("[::1]:5100", "::1"),
        ("[0:0::1]", "::1"),
        ("a_b-c.d", "a_b-c.d"),
    ],
)
def test_the_name_is_in_lower_case_and_without_its_port(header: str, name: str) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    "header",
    [
        *("", ".", "..", "a..b", "zoe.example:65536", "zoe.example:123456", "zoe.example:x", "user@zoe", "zoe/path"),
        *("[::1", "[1.2.3]", "[::1]x", "zoe%2eexample", "zoe example", "zoé.example", ":80"),
    ],
)
def test_invalid_host_header_has_no_host_name(header: str) -> None:
    assert host_name(header) is None


def test_the_address_of_a_client_without_one_is_empty() -> None:
    assert address_of(request(client="192.0.2.9")) == "192.0.2.9"
    assert address_of(request(client="")) == ""


@pytest.mark.parametrize("address", ["http://[", "http://zoe:x", "http://zoe:65536"])
def test_an_invalid_address_has_no_parts(address: str) -> None:
    assert parts_of(address) is None


def test_a_valid_address_has_parts() -> None:
    parts = parts_of("https://zoe.example:65535/a?b#c")
    assert parts is not None
    assert (parts.scheme, parts.hostname, parts.port, parts.path) == ("https", "zoe.example", 65535, "/a")
