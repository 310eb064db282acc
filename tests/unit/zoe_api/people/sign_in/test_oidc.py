"""Checks on a provider's documents."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from tests.support.plain_api import refusal
from zoe_api.http.problems.codes import Code
from zoe_api.people.sign_in import oidc
from zoe_api.people.sign_in.oidc import Oidc
from zoe_api.people.sign_in.oidc_answers import Answer
from zoe_lib.settings.sign_in_settings import OidcSettings

ISSUER = "https://sso.example"
SETTINGS = OidcSettings(issuer=ISSUER, client_id="zoe")
KEY = RSAKey.generate_key(2048, {"kid": "k"})
KEYS = {"keys": [KEY.as_dict(private=False)]}
PUBLISHED = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}


@pytest.mark.parametrize(
    ("address", "issuer", "believed"),
    [
        ("https://other.example/x", ISSUER, True),
        ("http://sso.example/x", ISSUER, False),
        ("http://sso.example/x", "http://sso.example", True),
        ("https://sso.example/x", "http://sso.example", True),
        ("ftp://sso.example/x", ISSUER, False),
        ("https:///x", ISSUER, False),
        ("/x", ISSUER, False),
        ("https://sso.example/\nx", ISSUER, False),
        ("https://[", ISSUER, False),
        (7, ISSUER, False),
        (None, ISSUER, False),
    ],
)
def test_an_endpoint_is_as_safe_as_its_issuer(address: object, issuer: str, believed: bool) -> None:
    assert oidc._is_endpoint(address, issuer) is believed


class Client:
    def __init__(self, answer: Any, status: int = 200) -> None:
        self.answer = httpx.Response(status, json=answer) if not isinstance(answer, bytes) else None
        self.answer = self.answer or httpx.Response(status, content=answer)
        self.asked: list[Any] = []

    def get(self, url: str, **more: Any) -> httpx.Response:
        self.asked.append((url, more))
        return self.answer


@pytest.mark.parametrize(
    ("published", "status", "believed"),
    [
        (PUBLISHED, 200, True),
        ({**PUBLISHED, "userinfo_endpoint": f"{ISSUER}/me"}, 200, True),
        ({**PUBLISHED, "userinfo_endpoint": "http://sso.example/me"}, 200, False),
        ({**PUBLISHED, "issuer": "https://evil.example"}, 200, False),
        ({**PUBLISHED, "token_endpoint": "http://sso.example/token"}, 200, False),
        ({name: text for name, text in PUBLISHED.items() if name != "jwks_uri"}, 200, False),
        (PUBLISHED, 201, False),
        ([PUBLISHED], 200, False),
        (b"not json", 200, False),
    ],
)
def test_a_discovery_document_is_whole_and_of_its_issuer(published: Any, status: int, believed: bool) -> None:
    client = Client(published, status)
    if believed:
        assert Oidc("sso", SETTINGS)._discover(client) == published
        assert client.asked == [(f"{ISSUER}/.well-known/openid-configuration", {})]
        return
    with refusal(Code.PROVIDER_UNAVAILABLE) as found:
        Oidc("sso", SETTINGS)._discover(client)
    assert found.problem.detail == "sso gave no valid answer"


def claims(expires_in_s: int = 60, **changes: Any) -> dict[str, Any]:
    now_s = int(time.time())
    expires = now_s + expires_in_s
    given = {"iss": ISSUER, "aud": "zoe", "nonce": "n", "sub": "s", "exp": expires, "iat": now_s, **changes}
    return {name: entry for name, entry in given.items() if entry is not None}


def token(key: Any = KEY, alg: str = "RS256", **changes: Any) -> str:
    return jwt.encode({"alg": alg, "kid": "k"}, claims(**changes), key)


def verified(text: object, keys: Any = KEYS) -> dict[str, Any]:
    return Oidc("sso", SETTINGS)._verify_token(text, keys, "n")


@pytest.mark.parametrize(
    "changes",
    [{}, {"aud": ["zoe"]}, {"aud": ["zoe", "other"], "azp": "zoe"}, {"azp": "zoe"}, {"expires_in_s": -30}],
)
def test_a_token_for_this_client_is_believed(changes: dict[str, Any]) -> None:
    assert verified(token(**changes))["sub"] == "s"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"aud": "other"},
        {"aud": ["zoe", "other"]},
        {"azp": "other"},
        {"nonce": "m"},
        {"nonce": None},
        {"nonce": ["n"]},
        {"nonce": ["m", "n"]},
        {"nonce": {"n": 1}},
        {"sub": None},
        {"sub": 7},
        {"expires_in_s": -600},
        {"exp": None},
        {"iat": None},
    ],
)
def test_any_other_token_is_not(changes: dict[str, Any]) -> None:
    with refusal(Code.SIGN_IN_FAILED):
        verified(token(**changes))


def test_only_a_key_of_the_provider_signs() -> None:
    for text in (token(RSAKey.generate_key(2048, {"kid": "k"})), None, "", "a.b.c"):
        with refusal(Code.SIGN_IN_FAILED):
            verified(text)
    secret = OctKey.import_key("x" * 32, {"kid": "k"})
    with refusal(Code.SIGN_IN_FAILED):
        verified(token(secret, "HS256"), {"keys": [secret.as_dict()]})
    with refusal(Code.PROVIDER_UNAVAILABLE):
        verified(token(), {"keys": "none"})


def test_user_information_is_about_the_same_user() -> None:
    published = {**PUBLISHED, "userinfo_endpoint": f"{ISSUER}/me"}
    tokens, same = {"access_token": "at"}, Client({"sub": "s", "name": "ada"})
    assert Oidc("sso", SETTINGS)._userinfo(same, published, tokens, {"sub": "s"})["name"] == "ada"
    assert same.asked == [(f"{ISSUER}/me", {"headers": {"Authorization": "Bearer at"}})]
    with refusal(Code.SIGN_IN_FAILED):
        Oidc("sso", SETTINGS)._userinfo(Client({"sub": "t"}), published, tokens, {"sub": "s"})


def test_a_token_with_many_groups_is_believed() -> None:
    groups = [f"{number:032x}" for number in range(20_000)]
    believed = Oidc("sso", SETTINGS)._groups(verified(token(groups=groups)))
    assert (len(believed), groups[-1] in believed) == (20_000, True)


def test_groups_that_the_provider_leaves_out_are_not_taken_for_none() -> None:
    sso = Oidc("sso", SETTINGS)
    assert sso._groups({"groups": "staff"}) == frozenset()
    assert sso._groups({"_claim_names": {"address": "src1"}, "groups": ["a", 7]}) == {"a"}
    with refusal(Code.SIGN_IN_REFUSED) as found:
        sso._groups({"_claim_names": {"groups": "src1"}})
    assert "groups" in found.problem.detail


def test_an_answer_that_is_too_long_is_told_as_such() -> None:
    body = b"x" * (oidc._ANSWER_BYTES_MAX + 1)
    client = oidc._Client("sso", 5.0, transport=httpx.MockTransport(lambda _: httpx.Response(200, content=body)))
    with refusal(Code.PROVIDER_UNAVAILABLE) as found:
        client.get(f"{ISSUER}/token")
    assert found.problem.detail == "sso sends more than 4 MiB: let it leave out groups"


@pytest.mark.parametrize(
    ("announced", "issuer", "taken"),
    [
        (False, None, True),
        (False, ISSUER, True),
        (True, ISSUER, True),
        (True, None, False),
        (False, "https://liar.example", False),
        (True, f"{ISSUER}/", False),
        (False, "", False),
    ],
)
def test_the_code_of_an_answer_goes_nowhere_before_its_issuer_is_checked(
    announced: bool, issuer: str | None, taken: bool
) -> None:
    published = {**PUBLISHED, oidc._ANNOUNCES_ISSUER: announced}
    posted: list[str] = []

    def answer(asked: httpx.Request) -> httpx.Response:
        if asked.method == "GET":
            return httpx.Response(200, json=published)
        posted.append(asked.url.path)
        return httpx.Response(400, json={"error": "invalid_grant"})

    sso = Oidc("sso", SETTINGS)
    sso._client = lambda: oidc._Client("sso", 5.0, transport=httpx.MockTransport(answer))  # type: ignore[method-assign]
    with refusal(Code.SIGN_IN_FAILED if taken else Code.SIGN_IN_MIXED_UP):
        sso.identity(Answer("s", "c", issuer=issuer), "https://zoe.example/x", "n", "v" * 43)
    assert posted == (["/token"] if taken else [])
