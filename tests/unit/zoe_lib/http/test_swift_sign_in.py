"""Requests to sign in to Swift, and the parsing of answers."""

from __future__ import annotations

import json

import pytest

from zoe_lib.http.swift_sign_in import NotSignedIn, SignedIn, sign_in_request, signed_in

OWN, KEYSTONE = "http://swift:8080/auth/v1.0", "https://keystone:5000/v3"
URL = "http://swift:8080/v1/AUTH_1"


def catalogue(*endpoints: tuple[str, str, str]) -> bytes:
    services = [{"type": kind, "endpoints": [{"interface": of, "url": url}]} for kind, of, url in endpoints]
    return json.dumps({"token": {"catalog": services}}).encode()


def test_an_address_tells_the_way() -> None:
    own = sign_in_request(OWN, "acme:ann", "key")
    assert (own.method, own.url, own.content) == ("GET", OWN, b"")
    assert own.headers == {"X-Auth-User": "acme:ann", "X-Auth-Key": "key"}
    for address in (KEYSTONE, f"{KEYSTONE}/"):
        one = sign_in_request(address, "id", "s3cret")
        assert (one.method, one.url) == ("POST", f"{KEYSTONE}/auth/tokens")
        assert json.loads(one.content)["auth"]["identity"]["application_credential"] == {"id": "id", "secret": "s3cret"}
        assert "s3cret" not in repr(one)


def test_answers_have_a_token_and_an_account() -> None:
    own = {"x-auth-token": "AUTH_tk", "x-storage-url": f"{URL}/"}
    assert signed_in(OWN, own, b"") == SignedIn("AUTH_tk", URL)
    told = catalogue(
        ("image", "public", "http://other"), ("object-store", "internal", "x"), ("object-store", "public", URL)
    )
    assert signed_in(KEYSTONE, {"X-Subject-Token": "gAAA"}, told) == SignedIn("gAAA", URL)


@pytest.mark.parametrize(
    ("auth_url", "headers", "content"),
    [
        (OWN, {}, b""),
        (OWN, {"X-Auth-Token": "t"}, b""),
        (OWN, {"X-Subject-Token": "t", "X-Storage-Url": URL}, b""),
        (KEYSTONE, {"X-Auth-Token": "t"}, catalogue(("object-store", "public", URL))),
        (KEYSTONE, {"X-Subject-Token": "t"}, catalogue(("object-store", "internal", URL))),
        *((KEYSTONE, {"X-Subject-Token": "t"}, entry) for entry in (b"", b"[]", b"{}", b'{"token": {"catalog": [1]}}')),
    ],
)
def test_others_sign_nobody_in(auth_url: str, headers: dict[str, str], content: bytes) -> None:
    with pytest.raises(NotSignedIn):
        signed_in(auth_url, headers, content)
