"""The whole API walked as every role, by token and by session, and as another tenant."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from scripts.reference.access import access_page, route_scopes
from tests.support.api import Api, problem
from tests.support.browser import Browser
from tests.support.documents import job
from tests.support.master import NODES, TickingMaster
from tests.support.open_routes import OPEN_ROUTES
from tests.support.people import ALL_SCOPES, make_token
from tests.support.postgres import PostgresServer
from tests.support.waiting import until
from zoe_api.http.request_context import PREFIX
from zoe_lib.domain.applications.roles import SCOPES, Role, Scope
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import WINDOWS_OF_NODE_MAX, Policy
from zoe_lib.store.people import SealedCredential

DENIED = {"scope_missing", "role_missing", "not_admin"}
# Routes that everybody may ask: these are what `anybody` stands for.
# Routes that tell of the own tenant without naming it.
OF_THE_TENANT = ("usage", "usage/daily?from_s=0", "quota", "storage/credentials")


def walked(scope: Scope | None) -> list[tuple[str, str]]:
    """Routes that ask for this scope; None: for none. Parameters are names of nothing."""
    wanted = "anybody" if scope is None else f"`{scope}`"
    return [(method, re.sub(r"{\w+}", "x", path)) for method, path, asked in route_scopes() if asked == wanted]


def denied(http: httpx.Client, method: str, path: str) -> bool:
    """Return whether it was refused for a missing right, not for its contents."""
    with http.stream(method, path) as answer:  # some never end
        if answer.status_code != 403:
            return False
        if method == "HEAD":  # its refusals have no body
            return True
        answer.read()
    return problem(answer)["code"] in DENIED


def test_only_sign_in_and_health_routes_are_public() -> None:
    open_paths = set(walked(None))
    assert {path for path in open_paths if path[1].startswith(PREFIX)} == OPEN_ROUTES
    assert {path for _, path in open_paths} >= {"/healthz", "/readyz", "/metrics"}


def test_every_route_is_listed_and_asks_for_one_scope_at_most(shared_api: Api) -> None:
    documented = {(m.upper(), p) for p, methods in shared_api.app.openapi()["paths"].items() for m in methods}
    assert {(method, path) for method, path, _ in route_scopes()} == documented
    assert {asked for _, _, asked in route_scopes()} == {"anybody", *(f"`{scope}`" for scope in Scope)}


def test_the_reference_lists_every_route() -> None:
    page = access_page()
    for method, path, scope in route_scopes():
        assert f"| `{method} {path}` | {scope} |" in page


# Of routes that refuse a request without a body before they look for its execution.
BODIES = {
    ("PUT", "shares"): {"level": "look"},
    ("PATCH", "{execution_id}"): {"priority": 0},
    ("POST", "accept"): {"offer": 1},
    ("POST", "scale"): {"total_counts": {"main": 1}},
}


@pytest.mark.parametrize("role", list(Role))
def test_a_token_may_what_its_role_may(shared_api: Api, role: Role) -> None:
    http = shared_api.http(make_token(shared_api.store, f"a-{role}", role=role, scopes=ALL_SCOPES))
    for scope in Scope:
        for method, path in walked(scope):
            assert denied(http, method, path) == (scope not in SCOPES[role]), (method, path)


@pytest.mark.parametrize("role", list(Role))
def test_a_session_may_what_its_role_may(shared_api: Api, role: Role) -> None:
    http = Browser(shared_api, f"b-{role}", role).use()
    for scope in Scope:
        for method, path in walked(scope):
            assert denied(http, method, path) == (scope not in SCOPES[role]), (method, path)


def test_another_tenants_are_as_if_they_were_not_there_on_every_route(shared_api: Api) -> None:
    execution = shared_api.client().submit(job())
    service = execution.services[0].id
    by_token = shared_api.http(make_token(shared_api.store, "eve", "blue"))
    by_session = Browser(shared_api, "eva", "user", "blue").use()
    routes = [(m, p) for m, p, _ in route_scopes() if "{execution_id}" in p]
    assert len(routes) > 8
    for stranger in (by_token, by_session):
        for method, path in routes:
            mine = path.format(execution_id=execution.id, service_id=service, port="p")
            nothing = path.format(execution_id="nothing", service_id=service, port="p")
            body = BODIES.get((method, path.rpartition("/")[2]))
            hidden, missing = (problem(stranger.request(method, text, json=body)) for text in (mine, nothing))
            assert hidden["code"] == missing["code"] == "not_found", path
            assert hidden["detail"].replace(execution.id, "nothing") == missing["detail"]
        assert stranger.get(f"{PREFIX}/executions").json()["executions"] == []


def test_arrays_of_another_tenant_are_as_if_they_were_not_there(shared_api: Api) -> None:
    mine = {"application": job(), "indices": "0-9", "hold": True}
    array_id = shared_api.http().post(f"{PREFIX}/arrays", json=mine).json()["id"]
    nothing = "a00000000000000"
    routes = [(m, p) for m, p, _ in route_scopes() if "{array_id}" in p]
    assert len(routes) == 8
    by_token = shared_api.http(make_token(shared_api.store, "eve", "blue"))
    for method, path in routes:
        body = {"priority": 0} if method == "PATCH" else {"offer": 1} if path.endswith("/accept") else None
        hidden, missing = (
            problem(by_token.request(method, path.format(array_id=entry), json=body)) for entry in (array_id, nothing)
        )
        assert hidden["code"] == missing["code"] == "not_found", path
        assert hidden["detail"].replace(array_id, nothing) == missing["detail"]
    assert by_token.get(f"{PREFIX}/arrays").json()["arrays"] == []


def test_another_tenants_are_in_no_list_no_sum_and_no_stream(api: Api, master: TickingMaster) -> None:
    red = api.client()
    execution = red.submit(job())
    credential = SealedCredential("red", "zoe", "red:ann", b"sealed")
    api.store.accounts.set_storage_credential(credential)
    until(lambda: [usage.execution_id for usage in red.usage().usage] == [execution.id])
    assert (
        red.quota().executions.used == len(red.daily_use(0.0).days) == len(red.storage_credentials().credentials) == 1
    )
    strangers = api.http(make_token(api.store, "eve", "blue")), Browser(api, "eva", "user", "blue").use()
    for stranger in strangers:
        told = {path: stranger.get(f"{PREFIX}/{path}").json() for path in OF_THE_TENANT}
        assert told["usage"]["usage"] == told["usage/daily?from_s=0"]["days"] == []
        assert told["storage/credentials"]["credentials"] == []
        assert (told["quota"]["tenant"], told["quota"]["executions"]["used"]) == ("blue", 0)
        assert execution.id not in str(told)
        mine, nothing = (
            problem(stranger.get(f"{PREFIX}/events", params={"execution_id": text}))
            for text in (execution.id, "nothing")
        )
        assert mine["code"] == nothing["code"] == "not_found"
        assert mine["detail"].replace(execution.id, "nothing") == nothing["detail"]
    for stranger in strangers:
        own = stranger.post(f"{PREFIX}/executions", json={"application": job()}).json()["id"]
        assert execution.id not in streamed_until(stranger, own)


def streamed_until(http: httpx.Client, wanted: str) -> str:
    """What the stream of all events says from the beginning to the first word about this execution."""
    said = ""
    with http.stream("GET", f"{PREFIX}/events", params={"after": 0}) as answer:
        for line in answer.iter_lines():
            said += line
            if wanted in line:
                return said
    raise AssertionError(said)


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("PUT", "/zoe"), ("DELETE", "/zoe")])
@pytest.mark.parametrize("role", [Role.VIEWER, Role.USER, Role.OPERATOR])
def test_only_admins_may_name_another_tenant(with_a_store: Api, role: Role, method: str, path: str) -> None:
    api = with_a_store
    api.store.accounts.set_storage_credential(SealedCredential("red", "zoe", "red:ann", b"sealed"))
    body = {"user": "x", "key": "y"} if method == "PUT" else None
    by_token = api.http(make_token(api.store, f"c-{role}", "blue", role, ALL_SCOPES))
    for stranger in (by_token, Browser(api, f"d-{role}", role, "blue").use()):
        asked = stranger.request(method, f"{PREFIX}/storage/credentials{path}", params={"tenant": "red"}, json=body)
        assert problem(asked)["code"] in DENIED
    assert [credential.login for credential in api.store.accounts.storage_credentials("red")] == ["red:ann"]


@pytest.fixture(scope="module")
def with_a_store(postgres_server: PostgresServer) -> Iterator[Api]:
    """One that knows a service of an object store."""
    url = postgres_server.create_database()
    made = Api(url, storage_services={"zoe": {"url": "http://swift/auth/v1.0", "region": "R"}})
    yield made
    made.close()
    postgres_server.drop_database(url)


def test_operators_drain_nodes_but_leave_the_rest_of_the_policy(api: Api) -> None:
    http = api.http(make_token(api.store, "olga", role="operator", scopes=ALL_SCOPES))
    policy = http.get(f"{PREFIX}/policy").json()
    drained = {**policy, "node_holds": {"node-1": {"tenant": None, "since_s": 0.0, "until_s": None, "note": ""}}}
    assert http.put(f"{PREFIX}/policy", json=drained).status_code == 200
    changed = http.put(f"{PREFIX}/policy", json={**drained, "order": "fifo"})
    assert problem(changed)["code"] == "not_admin"
    assert api.store.policy().order != "fifo"
    assert "node-1" in api.store.policy().node_holds


def window(since_s: float, until_s: float | None, **more: object) -> dict[str, object]:
    return {"tenant": None, "since_s": since_s, "until_s": until_s, "note": "", **more}


def test_operators_announce_several_windows_of_a_node_and_ended_ones_go(api: Api) -> None:
    http = api.http(make_token(api.store, "olga", role="operator", scopes=ALL_SCOPES))
    policy, now_s = http.get(f"{PREFIX}/policy").json(), time.time()
    later, soon, over = window(now_s + 9000, now_s + 9999), window(now_s + 50, now_s + 99), window(1.0, 2.0)
    assert http.put(f"{PREFIX}/policy", json={**policy, "node_holds": {"node-2": over}}).status_code == 422
    ended = NodeHold(since_s=1.0, until_s=2.0)
    present = replace(Policy(), node_holds={"node-2": ended}, node_windows={"node-1": (ended,), "node-3": (ended,)})
    stored = api.store.set_policy(present, policy["version"], now_s, "olga")
    policy["version"] = stored.version
    given = {
        **policy,
        "node_holds": {"node-2": over},
        "node_windows": {"node-1": [later, over, soon], "node-3": [over]},
    }
    put = http.put(f"{PREFIX}/policy", json=given)
    assert put.status_code == 200, put.text
    assert (put.json()["node_holds"], put.json()["node_windows"]) == ({}, {"node-1": [later, soon]})
    api.store.set_platform([replace(NODES[0], name="node-1")], 1.0, None)
    [node] = http.get(f"{PREFIX}/nodes").json()["nodes"]
    assert (node["holds"], node["hold"]) == ([soon, later], soon)


def test_a_client_that_knows_no_windows_leaves_them(api: Api) -> None:
    http = api.http(make_token(api.store, "olga", role="operator", scopes=ALL_SCOPES))
    policy, now_s = http.get(f"{PREFIX}/policy").json(), time.time()
    windows = {"node-1": [window(now_s + 50, now_s + 99)]}
    assert http.put(f"{PREFIX}/policy", json={**policy, "node_windows": windows}).status_code == 200
    older = {name: value for name, value in policy.items() if name != "node_windows"}
    assert http.put(f"{PREFIX}/policy", json=older).json()["node_windows"] == windows


def test_windows_are_bounded_and_have_an_end(api: Api) -> None:
    http = api.http(api.admin)
    policy, now_s = http.get(f"{PREFIX}/policy").json(), time.time()

    def refusal(windows: list[dict[str, object]]) -> str:
        told = problem(http.put(f"{PREFIX}/policy", json={**policy, "node_windows": {"node-1": windows}}))
        assert told["code"] == "invalid_policy"
        return str(told["errors"][0]["message"])

    many = [window(now_s + 10 * i, now_s + 10 * i + 5) for i in range(1, WINDOWS_OF_NODE_MAX + 2)]
    assert refusal(many) == "node node-1 has 33 windows; at most 32 are possible"
    assert "has no end" in refusal([window(now_s, None)])
    assert "ends before it begins" in refusal([window(now_s + 99, now_s + 50)])
    windows = {"node-1": many[1:]}
    assert http.put(f"{PREFIX}/policy", json={**policy, "node_windows": windows}).status_code == 200
