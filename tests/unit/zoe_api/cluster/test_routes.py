"""Nodes and policies: details for users, and changes by operators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fastapi import Response

from tests.support.applications import GIB, execution
from tests.support.plain_api import (
    ELSEWHERE,
    TENANT,
    Master,
    admin,
    after,
    caller_of,
    operator,
    person,
    refusal,
    request,
    services,
)
from tests.support.scheduling import node, started
from zoe_api.access.wire_forms import policy_view
from zoe_api.cluster import routes as cluster
from zoe_api.http.problems.codes import Code
from zoe_client.wire import ReplayRequest
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable

RUNNING = started(after(execution(1), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)), "n1", "n1", "n1")


def there() -> Any:
    made = services(RUNNING, master=Master(plugins={"found": []}))
    made.store._state.platform = [node("n1", message="10.0.0.1"), node("n2")]
    made.store._state.policy = Policy(
        node_holds={"n2": NodeHold(ELSEWHERE, note="theirs"), "n1": NodeHold(TENANT, 0.0, 5.0)}, version=3
    )
    return made


@pytest.mark.parametrize(("principal", "message"), [(person(), ""), (operator(), "10.0.0.1")])
def test_nodes_are_shown_with_what_zoe_reserves_there(principal: Any, message: str) -> None:
    first, second = cluster.list_nodes(SYSTEM_CLOCK, principal, there().store).nodes
    assert (first.name, first.message, first.services) == ("n1", message, 3)
    assert (first.reserved_cores, first.reserved_memory_bytes, first.elastic_cores) == (3.0, 3 * GIB, 1.0)
    assert (second.services, second.reserved_cores) == (0, 0.0)
    assert first.hold is None
    assert second.hold is not None
    assert second.hold.tenant == (ELSEWHERE if message else None)


def set_policy(principal: Any, if_match: str | None = None, **changes: Any) -> tuple[Any, Any, Any]:
    made, asked, answer = there(), request("PUT"), Response()
    body = policy_view(replace(made.store.policy(), **changes))
    told = cluster.set_policy(
        SYSTEM_CLOCK, body, caller_of(None, principal, asked), made.store, made.master, answer, if_match
    )
    return told, asked, (made, answer)


def test_operators_change_holds_only_and_admins_all() -> None:
    told, asked, (made, answer) = set_policy(operator(), node_holds={"n2": NodeHold(None, note="disk")})
    assert (told.version, answer.headers["etag"], made.master.hints) == (4, '"4"', 1)
    assert asked.state.audit_changes["version"] == [3, 4]
    windows = {"n1": (NodeHold(None, 4e9, 5e9),)}
    assert set_policy(operator(), node_windows=windows)[0].version == 4
    with refusal(Code.NOT_ADMIN):
        set_policy(operator(), order="fifo")
    assert set_policy(admin(), order="fifo")[0].order == "fifo"


def test_holds_that_are_over_are_left_out() -> None:
    assert set_policy(operator())[0].node_holds.keys() == {"n2"}


def test_a_policy_that_was_changed_meanwhile_is_left_alone() -> None:
    set_policy(admin(), '"3"', order="fifo")
    with refusal(Code.VERSION_MISMATCH):
        set_policy(admin(), '"2"', order="fifo")


def test_a_policy_with_faults_is_refused() -> None:
    with refusal(Code.INVALID_POLICY) as found:
        set_policy(admin(), filters=("readiness", "none"))
    assert found.problem.errors
    assert {error.code for error in found.problem.errors} == {"invalid_policy"}


def test_users_see_their_part_of_a_policy() -> None:
    made, answer = there(), Response()
    told = cluster.get_policy(person(), made.store, answer)
    assert (answer.headers["etag"], told.node_holds["n2"].tenant, told.node_holds["n2"].note) == ('"3"', None, "")
    assert cluster.get_policy(operator(), made.store, answer).node_holds["n2"].tenant == ELSEWHERE


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"a": 1}, ({"a": 1}, "")),
        (MasterUnreachable("away"), (None, "away; submissions are accepted and run later. For admins")),
        (MasterRefused("busy", "no"), (None, "no; submissions are accepted and run later")),
    ],
)
def test_the_status_tells_why_the_master_says_nothing(answer: Any, told: Any) -> None:
    def read() -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    status, message = cluster._master_status(type("Status", (), {"read": staticmethod(read)})())
    assert status == told[0]
    assert message.startswith(told[1])
    assert isinstance(answer, MasterUnreachable) or message == told[1]


def replayed(monkeypatch: pytest.MonkeyPatch, **body: Any) -> tuple[Any, float]:
    asked: list[Any] = []

    def replay(settings: Any, wanted: Any, to_s: float) -> dict[str, Any]:
        asked.append((wanted, to_s))
        raise ZeroDivisionError

    monkeypatch.setattr(cluster, "replay", replay)
    with pytest.raises(ZeroDivisionError):
        cluster.replay_journal(ReplayRequest(from_s=1.0, **body), caller_of(there(), operator()))
    wanted, to_s = asked[0]
    return wanted, to_s


def test_a_replay_ends_now_at_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert replayed(monkeypatch, to_s=5.0)[1] == 5.0
    assert 1e9 < replayed(monkeypatch)[1] == pytest.approx(replayed(monkeypatch, to_s=3e9)[1], abs=60)


def test_a_replay_gets_the_fields_of_a_policy_that_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert replayed(monkeypatch, policy={"order": "fifo"})[0].policy == {"order": "fifo"}
    with refusal(Code.INVALID_POLICY) as found:
        cluster.replay_journal(ReplayRequest(from_s=1.0, policy={"order": "none"}), caller_of(there(), operator()))
    assert found.problem.errors[0].pointer == "/policy/order"
