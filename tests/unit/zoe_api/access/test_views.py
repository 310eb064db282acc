"""Details of policy, journal and nodes for operators only, and the views of other users."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import ELSEWHERE, TENANT, operator, person
from tests.support.scheduling import node, started
from zoe_api.access import views
from zoe_api.access.wire_forms import execution_view
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy, with_limits
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.store.documents.codec import encode, event_data
from zoe_lib.store.people import Token
from zoe_lib.store.values import JournalEntry

MINE, THEIRS = NodeHold(TENANT, note="ours"), NodeHold(ELSEWHERE, note="theirs")
DRAINED = NodeHold(None, note="disk")


def policy() -> Policy:
    made = Policy(
        tenant_shares={TENANT: 2.0, ELSEWHERE: 3.0},
        priorities_max={TENANT: 5, ELSEWHERE: 6, "*": 7},
        node_holds={"n1": MINE, "n2": THEIRS, "n3": DRAINED},
        node_windows={"n1": (THEIRS, MINE)},
    )
    limits = made.limits
    for subject in (LimitSubject(TENANT), LimitSubject(ELSEWHERE), LimitSubject(TENANT, "*")):
        limits = limits.with_changed_amounts(subject, {"cores_milli": 1000})
    for user in ("ada", "bob"):
        limits = limits.with_changed_amounts(LimitSubject(TENANT, user), {"cores_milli": 500})
    return with_limits(made, limits.with_changed_amounts(LimitSubject(ELSEWHERE, "ada"), {"cores_milli": 100}))


def test_operators_see_the_whole_policy() -> None:
    assert views.visible_policy(policy(), operator()) is not None
    assert views.visible_policy(policy(), operator()) == policy()


def test_users_see_what_a_policy_says_of_their_tenant_and_of_themselves() -> None:
    seen = views.visible_policy(policy(), person())
    assert seen.tenant_shares == {TENANT: 2.0}
    assert seen.tenant_limits.keys() == {TENANT}
    assert seen.user_limits.keys() == {TENANT, f"{TENANT}/ada"}
    assert seen.priorities_max == {TENANT: 5, "*": 7}
    hidden = NodeHold(None)
    assert seen.node_holds == {"n1": MINE, "n2": hidden, "n3": DRAINED}
    assert seen.node_windows == {"n1": (hidden, MINE)}
    assert seen.order == policy().order


def entry(kind: str, execution_id: str | None = "e", number: int = 1, **data: Any) -> JournalEntry:
    tenant = None if execution_id is None else TENANT
    return JournalEntry(number, kind, 5.0, "cause", data, execution_id, tenant, 1)


def test_messages_of_the_platform_and_what_it_runs_after_are_for_operators() -> None:
    ended = entry("service_ended", message="gone", detail="10.0.0.1 refused", on="other", conditions={"after": []})
    assert views.event_view(ended, operator()).data == ended.data
    assert views.event_view(ended, person()).data == {"message": "gone"}


def test_of_the_installation_users_see_only_their_part_of_the_policy() -> None:
    assert views.event_view(entry("leader_changed", None, holder="host-1"), person()).data == {}
    assert views.event_view(entry("leader_changed", None, holder="host-1"), operator()).data == {"holder": "host-1"}
    data = encode(policy())
    seen = views.event_view(entry("policy_set", None, **data), person()).data
    assert seen == encode(views.visible_policy(policy(), person()))
    assert views.event_view(entry("policy_set", None, **data), operator()).data == data
    assert views.event_view(entry("policy_set", None, node_holds=1), person()).data == {}


@pytest.mark.parametrize("principal", [person(), operator()], ids=["user", "operator"])
def test_no_event_has_the_description_of_a_change(principal: Any) -> None:
    one = execution(1)
    changed = ev.Modified(
        at_s=1.0, before=ev.Requested.of_execution(one), after=ev.Requested.of_execution(one), user="ada", what="w"
    )
    data = event_data(changed)
    assert "application" in data["before"]
    seen = views.event_view(entry("modified", **data), principal).data
    assert seen["user"] == "ada"
    assert seen["before"]["priority"] == 0
    assert "application" not in seen["before"]
    assert "application" not in seen["after"]
    assert "application" in views.event_view(entry("other", application=1), principal).data


def test_all_pages_of_a_journal_are_read_once() -> None:
    rows = [entry("queued", number=number) for number in range(1, 1002)]
    asked = []

    class Journal:
        def journal(self, after: int, limit: int, *, execution_id: str) -> list[JournalEntry]:
            asked.append((after, limit, execution_id))
            return rows[after : after + limit]

    assert list(views.all_entries(Journal(), "e")) == rows
    assert asked == [(0, 500, "e"), (500, 500, "e"), (1000, 500, "e"), (1001, 500, "e")]


def running() -> Any:
    one = apply(execution(1), ev.Submitted(at_s=1.0))
    return started(apply(one, ev.Queued(at_s=1.0)), "n1", "n2", "n1", "n1")


def test_details_are_added_for_operators() -> None:
    one = running()
    view = execution_view(one, {})
    first, second, *_ = one.services
    entries = [
        entry("x", service_id=first.id, detail="old"),
        entry("x", service_id=first.id, detail="new"),
        entry("x", detail="of the whole"),
        entry("x", service_id=second.id, detail=""),
    ]
    assert views.with_details(view, entries, person()) is view
    seen = views.with_details(view, entries, operator())
    assert seen.detail == "of the whole"
    assert [service.detail for service in seen.services][:2] == ["new", ""]
    assert views.with_details(view, [], operator()).detail == ""


def test_node_problems_are_shown_to_operators_only() -> None:
    nodes = [
        node("n1", ready=False, message="10.0.0.1 is away"),
        node("n2", message="old"),
        node("n3", ready=False),
    ]
    texts = {name: {"worker": "no room"} for name in ("n1", "n2", "n3", "n4")}
    assert views.node_texts(texts, nodes, person()) == texts
    assert views.node_texts(texts, nodes, operator()) == {**texts, "n1": {"worker": "no room: 10.0.0.1 is away"}}


def test_services_that_start_wait_for_nodes_that_are_not_ready() -> None:
    one = running()
    starting = [service for service in one.services if service.node == "n1"]
    one = apply(one, ev.ServiceStarting(at_s=2.0, service_id=starting[0].id))
    away = [node("n1", ready=False, message="gone"), node("n2", ready=False)]
    assert views.waited_for(one, away, person()) == {"n1": {starting[0].component: "the node is not ready"}}
    assert views.waited_for(one, away, operator()) == {"n1": {starting[0].component: "the node is not ready: gone"}}
    assert views.waited_for(one, [node("n1"), node("n2")], operator()) == {}


def test_a_token_is_shown_with_sorted_scopes_and_without_its_secret() -> None:
    shown = views.token_view(Token("t", "ada", TENANT, "hash", frozenset({"submit", "read"}), 1.0, 2.0, "note"))
    assert (shown.id, shown.scopes, shown.expires_at_s, shown.note) == ("t", ["read", "submit"], 2.0, "note")
    assert "hash" not in shown.model_dump_json()
    assert shown.secret is None
