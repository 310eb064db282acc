"""Credentials of executions on a real proxy with two workers: their rights, their limits, and their end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import httpx
import pytest

from storage_filters.execution_auth.names import ExecutionUser, token_of
from tests.support.object_store import Person, logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.store_executions import SECRET, as_execution, s3_of, secret_file, sign_in, store_key
from tests.support.waiting import until
from zoe_embedded.swift.store import ObjectStore

ACCOUNT = "AUTH_acme"
MB = 10**6
X1, X2, GONE = (ExecutionUser("acme", entry, 3) for entry in ("x1", "a2_12r3", "x3"))
OF_BETA = ExecutionUser("beta", "x1", 3)
ALIVE = {ACCOUNT: {X1.execution: 3, X2.execution: 3}, "AUTH_beta": {"x1": 3}}
ENDED_WITHIN_S = 1.0


@pytest.fixture(scope="module")
def connected() -> Iterator[tuple[ObjectStore, Pusher]]:
    with pushed_store(nodes=1, replicas=1, proxy_workers=2, s3=True, executions_secret=secret_file) as both:
        with logged_in(both[0], "acme:ann") as ann, logged_in(both[0], "beta:bob") as bob:
            for person in (ann, bob):
                person.put("data")
                person.put("data/object", b"0123456789")
            bob.call("POST", "data", headers={"X-Container-Read": "acme:*,acme,.r:*", "X-Container-Write": "acme"})
        yield both


@pytest.fixture
def store(connected: tuple[ObjectStore, Pusher]) -> ObjectStore:
    push(connected[1], ALIVE)
    return connected[0]


def push(pusher: Pusher, alive: dict[str, dict[str, int]]) -> None:
    """Also wait until the complete message is processed: the next one is read after it."""
    pusher.alive = alive
    pusher.push(**{f"AUTH_mark{pusher.number}": {"get": 1.0 + pusher.number}})


def with_token(store: ObjectStore, token: str, account: str = ACCOUNT) -> int:
    root = store.auth_url.removesuffix("/auth/v1.0")
    return httpx.get(f"{root}/v1/{account}/data/object", headers={"X-Auth-Token": token}).status_code


def test_an_execution_owns_the_account_of_its_tenant(store: ObjectStore) -> None:
    with as_execution(store, X1) as one, as_execution(store, X2) as two:
        assert one.account_url.endswith(f"/v1/{ACCOUNT}")
        assert one.call("GET", "data/object").content == b"0123456789"
        one.put("made")
        one.put("made/object", b"abc")
        assert two.call("GET", "made/object").content == b"abc"
        copied = one.call("COPY", "made/object", headers={"Destination": "made/copied"})
        assert copied.status_code == 201
        assert two.call("GET").text.split() == ["data", "made"]
        assert one.call("POST", "made", headers={"X-Container-Read": "beta:bob"}).status_code == 204
        assert two.call("HEAD", "made").headers["X-Container-Read"] == "beta:bob", "owners see access lists"
        for name in ("made/object", "made/copied", "made"):
            assert two.call("DELETE", name).status_code == 204
        for method in ("PUT", "DELETE"):
            assert one.call(method).is_error, "no user creates or deletes accounts"


def test_no_other_account_is_open_not_even_what_all_may_read(store: ObjectStore) -> None:
    with as_execution(store, X1) as one, as_execution(store, OF_BETA) as of_beta:
        assert of_beta.call("GET", "data/object").status_code == 200
        elsewhere = Person(one.http, of_beta.account_url)
        for method, path in (
            ("GET", ""),
            ("HEAD", ""),
            ("GET", "data"),
            ("GET", "data/object"),
            ("PUT", "data/object"),
            ("DELETE", "data/object"),
            ("PUT", "new"),
            ("POST", "data"),
        ):
            assert elsewhere.call(method, path).status_code == 403, (method, path)
        for headers in (
            {"Destination": "data/stolen", "Destination-Account": "AUTH_beta"},
            {"Destination": "/data/stolen", "Destination-Account": "AUTH_beta"},
        ):
            assert one.call("COPY", "data/object", headers=headers).status_code == 403
        stolen = {"X-Copy-From": "/data/object", "X-Copy-From-Account": "AUTH_beta"}
        assert one.call("PUT", "data/stolen", headers=stolen).status_code == 403


def test_s3_requests_are_checked_by_the_same_key(store: ObjectStore) -> None:
    with s3_of(store, X1.login, store_key(X1)) as one:
        assert one.call("GET", "data/object").content == b"0123456789"
        assert one.call("PUT", "bucket").status_code == 200
        assert one.call("PUT", "bucket/object", content=b"abc").status_code == 200
        assert one.call("GET", "bucket/object").content == b"abc"
        assert one.call("DELETE", "bucket/object").status_code == 204
        assert one.call("DELETE", "bucket").status_code == 204
    forged = ((X1.login, store_key(X2)), (X1.login, store_key(X1)[:-1]), (OF_BETA.login, store_key(X1)), (X1.login, ""))
    for login, key in (*forged, (GONE.login, store_key(GONE))):
        with s3_of(store, login, key) as other:
            assert other.call("GET", "data/object").status_code == 403, login
    with s3_of(store, OF_BETA.login, store_key(OF_BETA)) as of_beta:
        of_beta.call("PUT", "only-betas")
    with s3_of(store, X1.login, store_key(X1)) as one:
        assert one.call("GET", "only-betas").status_code == 404, "it is looked for in its own account"


@pytest.mark.parametrize(
    ("login", "key"),
    [
        (X1.login, store_key(X2)),
        (X1.login, store_key(X1)[:-1]),
        (X1.login, store_key(X1)[:8]),
        (X1.login, store_key(X1) + "A"),
        (X1.login, ""),
        (OF_BETA.login, store_key(X1)),
        (ExecutionUser("acme", "x1", 2).login, store_key(X1)),
        (ExecutionUser("acme", "x1", 2).login, store_key(ExecutionUser("acme", "x1", 2))),
        (GONE.login, store_key(GONE)),
        ("acme:execution_x1", store_key(X1)),
        ("acme:execution_x1_3_", store_key(X1)),
    ],
)
def test_forged_and_former_keys_are_refused(store: ObjectStore, login: str, key: str) -> None:
    assert sign_in(store, login, key).status_code == 401


def test_forged_and_expired_tokens_are_refused(store: ObjectStore) -> None:
    secret, later = SECRET.encode(), time.time() + 60
    token = token_of(secret, ACCOUNT, X1, later)
    assert with_token(store, token) == 200
    assert with_token(store, token, "AUTH_beta") == 403
    for refused in (
        token_of(secret, ACCOUNT, X1, time.time() - 1),
        token_of(secret, ACCOUNT, GONE, later),
        token_of(secret, "AUTH_beta", X1, later),
        token_of(b"another secret of enough characters", ACCOUNT, X1, later),
        token[:-1],
        token[: len(token) // 2],
        "zoe_tk_",
    ):
        assert with_token(store, refused) == 401, refused


def test_other_users_sign_in_as_before(store: ObjectStore) -> None:
    with logged_in(store, "acme:ann") as ann:
        assert ann.call("GET", "data/object").status_code == 200
        assert with_token(store, ann.token) == 200
    assert sign_in(store, "acme:ann", "wrong").status_code == 401
    assert httpx.get(store.auth_url).status_code == 401
    assert with_token(store, "AUTH_tkforged") == 401


def test_key_and_token_end_with_the_execution_and_stay_out_after_a_restart(
    store: ObjectStore, connected: tuple[ObjectStore, Pusher]
) -> None:
    with as_execution(store, X1) as one, as_execution(store, X2) as two:
        token = one.token
        connected[1].alive = {ACCOUNT: {X2.execution: 3}}
        ended_s = time.monotonic()
        push(connected[1], {ACCOUNT: {X2.execution: 3}})
        assert with_token(store, token) == 401
        assert time.monotonic() - ended_s < ENDED_WITHIN_S
        assert {with_token(store, token) for _ in range(8)} == {401}, "by each worker"
        assert sign_in(store, X1.login, store_key(X1)).status_code == 401
        assert two.call("GET", "data/object").status_code == 200
        store.restart("proxy")
        assert with_token(store, token) == 401, "the proxy has not heard the controller again"
        assert two.call("GET", "data/object").status_code == 200, "tokens are valid for all proxies and after restarts"


def test_limits_and_reports_are_of_executions_too(store: ObjectStore, connected: tuple[ObjectStore, Pusher]) -> None:
    pusher, content = connected[1], os.urandom(6 * MB)
    pusher.push(**{f"{ACCOUNT}/{X1.execution}": {"get": 2.0 * MB, "put": 2.0 * MB}})
    pusher.listen()
    pusher.moved.clear()
    with (
        as_execution(store, X1) as one,
        as_execution(store, X2) as two,
        s3_of(store, X1.login, store_key(X1)) as by_s3,
        logged_in(store, "acme:ann") as ann,
    ):
        began_s = time.monotonic()
        two.put("data/large", content)
        assert ann.call("GET", "data/large").content == content
        assert two.call("GET", "data/large").content == content
        fast_s = time.monotonic() - began_s
        for slow in (
            lambda: one.call("GET", "data/large"),
            lambda: by_s3.call("GET", "data/large"),
            lambda: one.call("COPY", "data/large", headers={"Destination": "data/copied"}),
        ):
            began_s = time.monotonic()
            slow()
            assert time.monotonic() - began_s > 2.0, "six megabytes at two a second, half a second of burst"
        assert fast_s < 2.0

    def told() -> bool:
        pusher.listen()
        return pusher.moved.get((f"{ACCOUNT}/{X1.execution}", "put"), 0) >= 6 * MB

    until(told)
    assert pusher.moved[f"{ACCOUNT}/{X1.execution}", "get"] == pytest.approx(18 * MB, rel=0.01)
    assert pusher.moved[f"{ACCOUNT}/{X2.execution}", "put"] == 6 * MB
    assert pusher.moved[ACCOUNT, "get"] == 6 * MB
