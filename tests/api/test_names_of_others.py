"""No answer tells a member the names of other tenants or of their people; operators see all."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.api import Api
from tests.support.documents import job
from tests.support.limits import tenant_limit, user_limit
from tests.support.master import NODES
from tests.support.people import make_token
from zoe_client.http.sse import parse_events
from zoe_lib.domain.cluster.cluster import NodeHold

OTHER, STRANGER, NOTE = "hidden-tenant", "hidden-user", "hidden-note"
MET = {
    "/api/v1/executions",
    "/api/v1/policy",
    "/api/v1/nodes",
    "/api/v1/status",
    "/api/v1/quota",
    "/api/v1/tokens",
    "/metrics",
}
UNBOUNDED = {"/api/v1/events"}  # a stream, which does not end


def plain_questions(api: Api) -> list[str]:
    """Return every GET route without required parameters."""
    found = []
    for path, methods in api.app.openapi()["paths"].items():
        parameters = methods.get("get", {}).get("parameters", [])
        if (
            "get" in methods
            and not any(parameter.get("required") for parameter in parameters)
            and path not in UNBOUNDED
        ):
            found.append(path)
    return found


def with_another_tenant(api: Api) -> None:
    other = api.client(make_token(api.store, STRANGER, OTHER))
    other.submit(job())
    policy = replace(
        api.store.policy(),
        tenant_shares={OTHER: 2.0, "red": 3.0},
        tenant_limits={name: tenant_limit(cores_milli=4000) for name in (OTHER, "red")},
        user_limits={name: user_limit(cores_milli=2000) for name in (OTHER, "red")},
        node_holds={"node-1": NodeHold(OTHER, note=NOTE), "node-2": NodeHold("red", note="ours")},
        node_windows={"node-1": (NodeHold(OTHER, 5e9, 6e9, NOTE), NodeHold("red", 7e9, 8e9, "ours too"))},
    )
    api.store.set_policy(policy, policy.version, 1.0, "test")


def test_no_plain_question_names_another_tenant_to_a_member(api: Api) -> None:
    api.start_master()
    with_another_tenant(api)
    paths = plain_questions(api)
    assert set(paths) >= MET
    http = api.http()
    for path in paths:
        told = http.get(path).text
        assert not [name for name in (OTHER, STRANGER, NOTE) if name in told], path


def test_node_warnings_are_shown_to_operators_only(api: Api) -> None:
    warning = "containers on this node reach control ports (10.1.2.3:2377)"
    api.store.set_platform([replace(NODES[0], message=warning)], 1.0, None)
    operator = make_token(api.store, "op", role="operator", scopes=("read", "operate"))
    for token, message in ((api.token, ""), (operator, warning), (api.admin, warning)):
        [told] = api.http(token).get("/api/v1/nodes").json()["nodes"]
        assert (told["name"], told["ready"], told["message"]) == (NODES[0].name, True, message)


def test_a_member_sees_the_own_part_of_the_policy_and_an_operator_all(api: Api) -> None:
    with_another_tenant(api)
    mine = api.http().get("/api/v1/policy").json()
    whole = (
        api.http(make_token(api.store, "op", role="operator", scopes=("read", "operate"))).get("/api/v1/policy").json()
    )
    for name in ("tenant_shares", "tenant_limits", "user_limits"):
        assert (set(mine[name]), set(whole[name])) == ({"red"}, {"red", OTHER})
        assert mine[name]["red"] == whole[name]["red"]
    assert (mine["node_holds"]["node-1"]["tenant"], mine["node_holds"]["node-2"]["tenant"]) == (None, "red")
    assert [entry["tenant"] for entry in mine["node_windows"]["node-1"]] == [None, "red"]
    assert [entry["tenant"] for entry in whole["node_windows"]["node-1"]] == [OTHER, "red"]
    api.store.set_platform([replace(NODES[0], name="node-1")], 1.0, None)
    [node] = api.http().get("/api/v1/nodes").json()["nodes"]
    assert [(entry["tenant"], entry["note"]) for entry in node["holds"]] == [
        (None, ""),
        (None, ""),
        ("red", "ours too"),
    ]
    assert whole["node_holds"]["node-1"] | {"since_s": 0.0} == {
        "tenant": OTHER, "since_s": 0.0, "until_s": None, "note": NOTE
    }  # fmt: skip


def events_of(api: Api, token: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    """Return the stream's events about the policy up to now, from `headers` or from new ones."""
    with api.http(token).stream("GET", "/api/v1/events", headers=headers) as stream:
        if not headers:
            with_another_tenant(api)
            api.client().submit(job())  # what concerns all comes with the next event of the tenant
        for event in parse_events(stream.iter_lines()):
            if event is not None and event.kind == "policy_set":
                return [json.loads(event.data)]
    return []


@pytest.mark.parametrize("headers", [{}, {"Last-Event-ID": "0"}])
def test_the_stream_of_events_tells_of_the_policy_what_the_policy_does(api: Api, headers: dict[str, str]) -> None:
    if headers:
        with_another_tenant(api)
    [told] = events_of(api, api.token, headers)
    assert not [name for name in (OTHER, STRANGER, NOTE) if name in json.dumps(told)]
    assert set(told["data"]["tenant_limits"]) == {"red"}
    assert told["data"]["node_holds"]["node-2"]["note"] == "ours"


def test_operators_see_all_of_it_in_the_stream(api: Api) -> None:
    with_another_tenant(api)
    operator = make_token(api.store, "op", role="operator", scopes=("read", "operate"))
    [told] = events_of(api, operator, {"Last-Event-ID": "0"})
    assert set(told["data"]["tenant_limits"]) == {"red", OTHER}
    assert told["data"]["node_holds"]["node-1"]["note"] == NOTE
