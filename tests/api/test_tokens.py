"""Rights of tokens, scopes, and tenants."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.browser import Browser
from tests.support.documents import job
from tests.support.open_routes import OPEN_ROUTES
from tests.support.people import ALL_SCOPES, make_token
from tests.support.postgres import connect
from tests.support.waiting import until
from zoe_client import NotAllowed, NotFound
from zoe_client.wire import TokenRequest

OPEN = {"/healthz", "/readyz", "/metrics"}
WRITES = {
    ("POST", "/api/v1/executions"): {"application": job()},
    ("POST", "/api/v1/executions/x/cancel"): None,
    ("POST", "/api/v1/tokens"): {},
    ("PUT", "/api/v1/storage/credentials/x"): {"user": "u", "key": "k"},
    ("DELETE", "/api/v1/storage/credentials/x"): None,
}


def routes(api: Api) -> list[tuple[str, str]]:
    found = []
    for path, methods in api.app.openapi()["paths"].items():
        for method in methods:
            found.append((method.upper(), re.sub(r"{\w+}", "x", path)))
    return found


def code(http: httpx.Client, method: str, path: str, body: Any = None) -> str:
    return str(problem(http.request(method, path, json=body))["code"])


def test_every_route_but_health_needs_a_token(shared_api: Api) -> None:
    anonymous, stranger = shared_api.http(None), shared_api.http("zoe_aa_bb")
    for method, path in routes(shared_api):
        if path in OPEN:
            assert anonymous.request(method, path).status_code == 200
        elif method == "HEAD":  # its refusals have no body
            assert {http.head(path).status_code for http in (anonymous, stranger)} == {401}
        elif (method, path) not in OPEN_ROUTES:
            assert code(anonymous, method, path) == "no_token", path
            assert code(stranger, method, path) == "bad_token", path


def test_a_token_without_scopes_can_do_nothing(shared_api: Api) -> None:
    http = shared_api.http(make_token(shared_api.store, scopes=()))
    for method, path in routes(shared_api):
        if method == "HEAD":
            assert http.head(path).status_code == 403
        elif path not in OPEN and (method, path) not in OPEN_ROUTES:
            assert code(http, method, path) in ("scope_missing", "role_missing", "not_admin"), path


def test_reading_is_not_writing(shared_api: Api) -> None:
    http = shared_api.http(make_token(shared_api.store, scopes=("read",)))
    for (method, path), body in WRITES.items():
        assert code(http, method, path, body) == "scope_missing"


def test_a_token_is_known_by_its_whole_secret(api: Api) -> None:
    token_id, secret = api.token.split("_")[1:]
    for wrong in (
        f"zoe_{token_id}_{secret[:-1]}",
        f"zoe_{token_id}_",
        f"zoe_{token_id}",
        token_id,
        secret,
        f"x{api.token}",
    ):
        assert code(api.http(wrong), "GET", "/api/v1/me") == "bad_token"


def test_an_expired_token_is_worthless(api: Api) -> None:
    http = api.http(make_token(api.store, lifetime_s=-1.0))
    assert code(http, "GET", "/api/v1/me") == "bad_token"
    short = api.client().add_token(TokenRequest(lifetime_s=0.2))
    assert short.secret is not None
    soon = api.http(short.secret)
    until(lambda: soon.get("/api/v1/me").status_code == 401)


def test_a_revoked_token_is_worthless_at_once(api: Api) -> None:
    made = api.client().add_token(TokenRequest(note="laptop"))
    assert made.secret is not None
    assert api.client(made.secret).me().user == "ada"
    api.client().revoke_token(made.id)
    with pytest.raises(NotAllowed):
        api.client(made.secret).me()
    with pytest.raises(NotFound):
        api.client().revoke_token(made.id)


def test_a_secret_is_shown_once_and_never_stored(api: Api, postgres_url: str) -> None:
    made = api.client().add_token(TokenRequest())
    assert made.secret is not None
    listed = api.client().tokens()
    assert made.id in {token.id for token in listed.tokens}
    assert {token.secret for token in listed.tokens} == {None}
    secret = made.secret.split("_")[2]
    with connect(postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(tokens)::text FROM tokens")
        kept = cursor.fetchall()
    connection.close()
    assert len(kept) == 3
    assert not [row for row in kept if secret in row[0]]


def test_a_token_makes_none_that_is_more_than_itself(api: Api) -> None:
    reader = api.http(make_token(api.store, scopes=("read", "submit"), lifetime_s=100.0))
    assert code(reader, "POST", "/api/v1/tokens", {"scopes": ["admin"]}) == "scope_missing"
    expiry = min(t["expires_at_s"] for t in reader.get("/api/v1/tokens").json()["tokens"] if t["expires_at_s"])
    for wanted in ({}, {"lifetime_s": 10_000}):
        assert reader.post("/api/v1/tokens", json=wanted).json()["expires_at_s"] == expiry
    assert reader.post("/api/v1/tokens", json={"lifetime_s": 1}).json()["expires_at_s"] < expiry


def test_a_token_ends_with_the_one_that_made_it(api: Api) -> None:
    first = make_token(api.store)
    texts = [first]
    for _ in range(3):
        texts.append(api.http(texts[-1]).post("/api/v1/tokens", json={}).json()["secret"])
    ids = [text.split("_")[1] for text in texts]
    makers = {token["id"]: token["made_by"] for token in api.http(first).get("/api/v1/tokens").json()["tokens"]}
    assert [makers[token_id] for token_id in ids] == [None, *ids[:-1]]
    assert api.http(first).delete(f"/api/v1/tokens/{ids[1]}").status_code == 204
    told = [api.http(text).get("/api/v1/me").status_code for text in texts]
    assert told == [200, 401, 401, 401]
    assert api.http().get("/api/v1/me").status_code == 200


def test_a_token_that_a_session_made_outlives_the_session(api: Api) -> None:
    http = Browser(api).use()
    text = http.post("/api/v1/tokens", json={}).json()["secret"]
    http.delete("/api/v1/session")
    assert api.http(text).get("/api/v1/me").status_code == 200


def test_a_reading_token_revokes_only_itself(api: Api) -> None:
    text = make_token(api.store, scopes=("read",))
    http = api.http(text)
    assert code(http, "DELETE", f"/api/v1/tokens/{api.token.split('_')[1]}") == "scope_missing"
    assert http.delete(f"/api/v1/tokens/{text.split('_')[1]}").status_code == 204
    assert code(http, "GET", "/api/v1/me") == "bad_token"


def test_tokens_of_others_are_not_there(api: Api) -> None:
    bob = api.http(make_token(api.store, "bob"))
    assert code(bob, "DELETE", f"/api/v1/tokens/{api.token.split('_')[1]}") == "not_found"
    assert {t["user"] for t in bob.get("/api/v1/tokens").json()["tokens"]} == {"bob"}


def test_another_tenants_execution_is_as_if_it_were_not_there(api: Api) -> None:
    execution = api.client().submit(job())
    service = execution.services[0].id
    bob = api.http(make_token(api.store, "bob", "blue"))
    base = "/api/v1/executions/"
    for method, rest in (
        ("GET", ""),
        ("POST", "/cancel"),
        ("GET", "/explain"),
        ("GET", "/usage"),
        ("GET", "/events"),
        ("GET", f"/services/{service}/logs"),
        ("GET", f"/services/{service}/logs/stream"),
    ):
        hidden = problem(bob.request(method, f"{base}{execution.id}{rest}"))
        missing = problem(bob.request(method, f"{base}nothing{rest}"))
        assert hidden["detail"].replace(execution.id, "nothing") == missing["detail"]
        assert {**hidden, "instance": "", "detail": ""} == {**missing, "instance": "", "detail": ""}
    assert problem(bob.get("/api/v1/events", params={"execution_id": execution.id}))["code"] == "not_found"
    assert bob.get("/api/v1/executions").json()["executions"] == []
    assert code(bob, "GET", "/api/v1/executions?all_tenants=true") == "role_missing"
    assert code(bob, "GET", "/api/v1/events?all_tenants=true") == "role_missing"


def test_an_admin_sees_and_ends_every_tenants(api: Api) -> None:
    bob = api.client(make_token(api.store, "bob", "blue"))
    execution = bob.submit(job())
    admin = api.client(api.admin)
    assert admin.execution(execution.id).tenant == "blue"
    assert admin.executions().executions == []
    assert [e.id for e in admin.executions(all_tenants=True).executions] == [execution.id]
    assert admin.cancel(execution.id).message == "cancelled by root"


def test_an_admins_lesser_token_is_a_users(api: Api) -> None:
    execution = api.client(make_token(api.store, "bob", "blue")).submit(job())
    lesser = api.http(make_token(api.store, "root", "red", "admin", ("read", "submit")))
    assert code(lesser, "GET", f"/api/v1/executions/{execution.id}") == "not_found"
    assert code(lesser, "GET", "/api/v1/executions?all_tenants=true") == "scope_missing"
    assert lesser.get("/api/v1/me").json()["admin"] is False


def test_the_scope_alone_makes_no_admin(api: Api) -> None:
    pretender = api.http(make_token(api.store, scopes=ALL_SCOPES))
    assert code(pretender, "PUT", "/api/v1/policy", {}) == "role_missing"
    assert code(pretender, "GET", "/api/v1/admin/users") == "not_admin"
