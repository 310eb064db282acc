"""S3 requests of executions, and of Keystone's users by `s3token`, altered as those of tempauth's are."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from storage_filters.execution_auth.alive_executions import AliveExecutions, AliveFile, alive_file
from storage_filters.execution_auth.names import ExecutionUser, key_of
from tests.storage.test_s3_signed import EXPLOITS, SECRET, UPLOAD, Ask, answering, shipped
from tests.support.s3_signing import HOST, Signer, Wire

GET = Wire("GET", "/inbox/upload")
X1, X2, GONE = (ExecutionUser("acme", entry, 3) for entry in ("x1", "x2", "x3"))
OF_BETA = ExecutionUser("beta", "x1", 3)
OPTIONS = {"options": {"auth_uri": "http://keystone.example/v3", "keys_with_colon": "no"}}
KEYSTONE = {
    "ak-ann": {"secret": "anns-secret", "project": "acme", "roles": ["admin"]},
    "ak-root": {"secret": "roots-secret", "project": "ops", "roles": ["admin", "ResellerAdmin"]},
    "ak-guest": {"secret": "guests-secret", "project": "acme", "roles": ["reader"]},
}
ANN, ROOT, GUEST = (Signer(f"ak-{name}", f"{name}s-secret") for name in ("ann", "root", "guest"))


def signer(user: ExecutionUser, login: str = "", key: str = "") -> Signer:
    return Signer(login or user.login, key or key_of(SECRET.encode(), f"AUTH_{user.tenant}", user))


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    directory = tmp_path_factory.mktemp("swift")
    alive = AliveExecutions(9, {"AUTH_acme": {"x1": 3, "x2": 3}, "AUTH_beta": {"x1": 3}})
    AliveFile(alive_file(f"{directory}/rates")).write(alive)
    yield from answering(shipped(), directory)


@pytest.fixture(scope="module")
def keystone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    names = [name for text in shipped() for name in ({"tempauth": "s3token keystoneauth"}.get(text, text)).split()]
    yield from answering(names, tmp_path_factory.mktemp("keystone"), keystone=KEYSTONE, **OPTIONS)


def acts(ask: Ask, wire: Wire) -> list[str]:
    """What a request reaches at the store beside HEADs; empty if it is refused."""
    status, text, seen = ask(wire)
    found = [entry[1] for entry in seen if entry[0] != "HEAD"]
    assert status < 300 or (status in (400, 403, 501) and not found), (status, text)
    return found


def test_an_execution_does_by_s3_what_it_signed_and_nothing_else(ask: Ask) -> None:
    one = signer(X1)
    for wire in (one.url(GET), one.header(GET), one.url_v2(GET), one.header_v2(GET)):
        assert acts(ask, wire) == ["/v1/AUTH_acme/inbox/upload"]
    for wire in (one.url(UPLOAD), one.header(UPLOAD)):
        assert acts(ask, wire) == ["/v1/AUTH_acme/inbox/upload"]
        for header in EXPLOITS:
            assert acts(ask, wire.plus(header)) == [], header


def test_a_signed_copy_from_another_account_is_refused(ask: Ask) -> None:
    one = signer(X1)
    for headers in (
        (("X-Copy-From", "private/secret"), ("X-Copy-From-Account", "AUTH_beta")),
        (("x-amz-copy-source", "/private/secret"), ("X-Copy-From-Account", "AUTH_beta")),
    ):
        status, text, seen = ask(one.header(UPLOAD, *headers))
        assert status in (400, 403), text
        assert not [entry for entry in seen if "AUTH_beta" in entry[1] and entry[0] != "HEAD"]


def test_no_other_key_and_no_ended_execution_opens_anything(ask: Ask) -> None:
    key = signer(X1).secret
    others = (
        signer(GONE),
        signer(X1, key=key[:-1]),
        signer(X1, key=signer(X2).secret),
        signer(X1, login=OF_BETA.login),
        signer(OF_BETA, login=X1.login),
        signer(X1, login="acme:execution_x1_2", key=key),
        signer(X1, login="acme:execution_x1_03", key=key),
        signer(X1, login="AUTH_acme:execution_x1_3", key=key),
        signer(X1, login=f"{X1.login}:x", key=key),
        signer(X1, login="acme:execution_x1_3\n", key=key),
    )
    for other in others:
        for wire in (other.url(GET), other.header(GET), other.url_v2(GET)):
            assert acts(ask, wire) == [], other.access_key


def test_altered_requests_of_an_execution_are_refused(ask: Ask) -> None:
    one = signer(X1)
    put = Wire("PUT", "/inbox/upload", body="hello")
    url, signed = one.url(GET), one.header(put)
    assert acts(ask, signed) == ["/v1/AUTH_acme/inbox/upload"]
    for wire in (url, one.url_v2(GET), one.header(GET)):
        for altered in (
            replace(wire, path="/inbox/other"),
            replace(wire, path="/private/upload"),
            replace(wire, path="/inbox"),
            replace(wire, method="DELETE"),
            replace(wire, method="PUT"),
            wire.plus(query=(("versionId", "1"),)),
        ):
            assert acts(ask, altered) == [], altered
    assert acts(ask, replace(url, headers=(("Host", "other.example"),))) == []
    status, text, _ = ask(replace(signed, body="jello"))
    assert status == 400, text
    assert "XAmzContentSHA256Mismatch" in text
    for name, value in (("X-Auth-Token", "zoe_tk_x.y"), ("X-Storage-Token", "AUTH_tk1"), ("Host", HOST)):
        assert acts(ask, url.plus((name, value))) == [], name
    again = dict(signed.headers)["Authorization"]
    assert acts(ask, signed.plus(("Authorization", again))) == []
    for late in (time.time() - 1000, time.time() + 1000):
        assert acts(ask, replace(one, at_s=late).header(GET)) == [], "a request is repeated for a quarter of an hour"
    assert acts(ask, replace(one, at_s=time.time() - 1000).url(GET)) == []


def test_the_key_of_an_execution_is_moved_to_no_other(ask: Ask) -> None:
    """The access key is signed in no version 2, and in version 4 only in the query."""
    one = signer(X1)
    for other in (X2.login, OF_BETA.login, "acme:ann", GONE.login):
        moved = json.loads(json.dumps(one.header(GET).headers).replace(X1.login, other))
        assert acts(ask, replace(one.header(GET), headers=tuple(map(tuple, moved)))) == []
        query = tuple((k, other if k == "AWSAccessKeyId" else v) for k, v in one.url_v2(GET).query)
        assert acts(ask, replace(one.url_v2(GET), query=query)) == []


def test_a_user_of_keystone_does_what_is_signed(keystone: Ask) -> None:
    for wire in (ANN.url(GET), ANN.header(GET), ANN.url_v2(GET), ANN.header_v2(GET)):
        assert acts(keystone, wire) == ["/v1/AUTH_acme/inbox/upload"]
        assert acts(keystone, wire.plus(query=(("versionId", "1"),))) == []
        assert acts(keystone, replace(wire, path="/inbox/other")) == []
    for wire in (ANN.url(UPLOAD), ANN.header(UPLOAD)):
        for header in EXPLOITS:
            assert acts(keystone, wire.plus(header)) == [], header


IDENTITY = (
    ("X-Identity-Status", "Confirmed"),
    ("X-Roles", "admin,ResellerAdmin"),
    ("X-Project-Id", "victim"),
    ("X-User-Id", "root"),
    ("X-Service-Identity-Status", "Confirmed"),
    ("X-Service-Roles", "service"),
    ("X-Auth-Token", "gAAAAA"),
    ("X-Service-Token", "gAAAAA"),
)


def test_clients_cannot_send_an_identity_of_keystone(keystone: Ask) -> None:
    for wire in (GUEST.url(UPLOAD), GUEST.header(UPLOAD), GUEST.url_v2(UPLOAD)):
        assert acts(keystone, wire) == []
        assert acts(keystone, wire.plus(*IDENTITY)) == []
        for header in IDENTITY:
            assert acts(keystone, wire.plus(header)) == []
    signed = GUEST.header(UPLOAD, *IDENTITY[:6])
    assert acts(keystone, signed) == [], "s3token drops those, also signed ones"


def test_a_key_of_a_reseller_admin_is_not_turned_to_another_account(keystone: Ask) -> None:
    assert acts(keystone, ROOT.url_v2(GET)) == ["/v1/AUTH_ops/inbox/upload"]
    query = tuple((k, "ak-root:victim" if k == "AWSAccessKeyId" else v) for k, v in ROOT.url_v2(GET).query)
    assert acts(keystone, replace(ROOT.url_v2(GET), query=query)) == []
    for wire in (ROOT.header(GET), ROOT.header_v2(GET)):
        moved = json.loads(json.dumps(wire.headers).replace("ak-root", "ak-root:victim"))
        assert acts(keystone, replace(wire, headers=tuple(map(tuple, moved)))) == []
    own = signer(X1)
    assert acts(keystone, own.url(GET)) == ["/v1/AUTH_acme/inbox/upload"], "executions have a colon in their keys"
