"""Hand-over from a leaving user to another one of the tenant: transferred objects, remaining ones, and the required
rights.
"""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.support.api import Api, problem
from tests.support.documents import document, part
from tests.support.master import TickingMaster
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_api.people import handing_over
from zoe_client import Client
from zoe_client.http.sse import parse_events
from zoe_client.wire import AuditEntryView, HandOverView
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.events import OwnerChanged
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.metering import ONE
from zoe_lib.domain.executions.use import DAY_S
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.visible import shares as share_rows
from zoe_master.backends.base import MovedWorkspace, MoveState, WorkspaceMove
from zoe_master.backends.simulated import ServiceBehaviour

PATH = "/api/v1/admin/tenants/{}/members/{}/hand-over"
BIG = {"cores": 3.9, "memory": "1GiB"}


class Lab:
    """Ada has an execution that ended, one that runs and one that waits; bob and carol are in her tenant."""

    def __init__(self, api: Api, master: TickingMaster) -> None:
        self.api, self.master = api, master
        master.behaviours["short"] = ServiceBehaviour(run_s=0.05)
        self.ada, self.admin = api.client(), api.client(api.admin)
        self.bob = api.client(make_token(api.store, "bob"))
        self.carol = api.client(make_token(api.store, "carol"))
        self.ended = self._reached("short", ExecutionState.SUCCEEDED)
        self.running = self._reached("main", ExecutionState.RUNNING)
        self.blocking = [self.carol.submit(document(part(resources=BIG))).id for _ in range(2)]
        self.waiting = self.ada.submit(document(part("late", resources=BIG))).id

    def _reached(self, name: str, state: ExecutionState) -> str:
        made = self.ada.submit(document(part(name, ends_application=True), name=name))
        until(lambda: self.ada.execution(made.id).state is state)
        return made.id

    def given(self, user: str = "ada", to: str = "bob") -> HandOverView:
        return self.admin.admin.hand_over(user, to, "red")

    def entry(self) -> AuditEntryView:
        return next(entry for entry in self.admin.admin.audit(limit=50).entries if entry.action == "hand_over_to")


@pytest.fixture
def lab(api: Api, master: TickingMaster) -> Lab:
    return Lab(api, master)


def owners(client: Client) -> dict[str, str]:
    return {execution.id: execution.user for execution in client.executions().executions}


def test_executions_in_every_state_become_the_heirs(lab: Lab) -> None:
    mine = {lab.ended, lab.running, lab.waiting}
    assert owners(lab.bob) == {}
    before = lab.api.store.execution(lab.running)
    done = lab.given()
    assert (done.executions, done.executions_left, done.files) == (3, False, "nothing")
    assert owners(lab.bob) == dict.fromkeys(mine, "bob")
    after = lab.api.store.execution(lab.running)
    assert (after.services, after.marks, after.state) == (before.services, before.marks, before.state)
    events = [e for e in lab.bob.events(lab.ended).events if e.kind == "owner_changed"]
    assert [(e.data["former"], e.data["user"]) for e in events] == [("ada", "bob")]
    assert lab.given().executions == 0  # repeatable
    lab.bob.cancel(lab.running)
    until(lambda: lab.bob.execution(lab.running).state is ExecutionState.CANCELLED)


def test_waiting_execution_starts_as_the_heir(lab: Lab) -> None:
    """The master keeps waiting executions by their owner."""
    assert lab.bob.executions().executions == []
    lab.given()
    for text in lab.blocking:
        lab.carol.cancel(text)
    until(lambda: lab.bob.execution(lab.waiting).state is ExecutionState.RUNNING)
    kinds = lab.master.master._cache._kinds._present
    until(lambda: {user for _, user, *_ in list(kinds)} == {"bob"})  # carol's second one may still end
    [started] = [s for s in lab.master.backend._backend._services.values() if s.start.execution_id == lab.waiting]
    assert started.start.user == "bob"


def test_leaving_user_loses_access_at_once(lab: Lab) -> None:
    lab.given()
    assert lab.api.http().get("/api/v1/me").status_code == 401
    assert lab.api.store.accounts.user("ada").disabled
    assert lab.api.store.accounts.tokens("ada") == []


def test_shares_that_were_given_stay_as_the_heirs_and_the_heir_needs_none(lab: Lab) -> None:
    for user, level in (("bob", ShareLevel.LOOK), ("carol", ShareLevel.OPEN)):
        lab.ada.share(lab.running, level, user)
    theirs = lab.carol.submit(document(part()))
    lab.carol.share(theirs.id, ShareLevel.LOOK, "ada")
    lab.given()
    shares = lab.api.store.accounts.shares(lab.running)
    assert [(share.owner, share.user, share.level) for share in shares] == [("bob", "carol", ShareLevel.OPEN)]
    assert [s.user for s in lab.bob.shares(lab.running).shares] == ["carol"]
    lab.admin.admin.remove_member("ada", "red")
    assert lab.carol.execution(lab.running).user == "bob"  # her membership took none of them along
    assert lab.api.store.accounts.shares(theirs.id) == []  # whom an owner trusts is not inherited
    for user, may in (("bob", True), ("carol", True), ("ada", False)):
        assert lab.api.store.database.read(lambda c, u=user: share_rows.may_open(c, lab.running, "red", u)) is may


def test_the_usage_of_what_ended_stays_with_who_used_it(lab: Lab) -> None:
    lab.ada.cancel(lab.running)
    until(lambda: lab.ada.execution(lab.running).state is ExecutionState.CANCELLED)
    before = used_by(lab, "ada")
    assert before > 0
    lab.given()
    while lab.api.store.sum_up():
        pass
    assert used_by(lab, "ada") == pytest.approx(before)
    assert used_by(lab, "bob") == 0


def test_usage_and_statements_charge_the_owner_at_that_time(lab: Lab) -> None:
    lab.given()
    lab.bob.cancel(lab.running)
    until(lambda: lab.bob.execution(lab.running).state is ExecutionState.CANCELLED)
    execution = lab.api.store.execution(lab.running)
    began_s, handed_s = execution.services[0].started_at_s or 0.0, execution.former_owners[0].until_s
    charged = [
        use for use in lab.api.store.billing.metered(0, 2**62, "red", [lab.running]) if use.meter == "core_hours"
    ]
    ended_s, cores = execution.services[0].ended_at_s or 0.0, execution.application.total_resources().cores_milli / 1000
    assert {use.user: use.units / ONE[use.meter] * 3600 for use in charged} == pytest.approx(
        {"ada": cores * (handed_s - began_s), "bob": cores * (ended_s - handed_s)}, abs=1e-4
    )
    for user in ("ada", "bob"):
        found = [use for use in lab.api.store.billing.metered(0, 2**62, "red") if use.user == user]
        core_s = sum(use.units / ONE[use.meter] * 3600 for use in found if use.meter == "core_hours")
        assert used_by(lab, user) == pytest.approx(core_s, abs=1e-4)


def used_by(lab: Lab, user: str) -> float:
    """Return core-seconds of ended executions, today."""
    today = int(time.time() // DAY_S)
    use = lab.api.store.daily_use(today - 1, today, None)
    return sum(seconds.core_s for key, seconds in use.items() if key.user == user)


def test_it_is_done_in_parts_and_files_come_last(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    moves: list[WorkspaceMove] = []

    def move(wanted: WorkspaceMove) -> MovedWorkspace:
        moves.append(wanted)
        return MovedWorkspace(MoveState.MOVED, directory="from-ada")

    lab.master.backend._backend.move_workspace = move
    monkeypatch.setattr(handing_over, "EXECUTIONS_MAX", 2)
    first = lab.given()
    assert (first.executions, first.executions_left, moves) == (2, True, [])
    assert len(owners(lab.bob)) == 2
    second = lab.given()
    assert (second.executions, second.executions_left, second.files) == (1, False, "moved")
    assert second.directory == "from-ada"
    assert [(move.tenant, move.user, move.to) for move in moves] == [("red", "ada", "bob")]


def test_concurrently_ended_execution_is_handed_over_too(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    append = PostgresStore.append
    late: list[str] = []

    def slow(self: PostgresStore, execution_id: str, events: Any, version: int, *rest: Any) -> Any:
        if execution_id == lab.running and isinstance(events[0], OwnerChanged) and not late:
            late.append(execution_id)
            lab.carol.cancel(lab.running)
            until(lambda: lab.api.store.execution(lab.running).terminal)
        return append(self, execution_id, events, version, *rest)

    lab.ada.share(lab.running, ShareLevel.CONTROL, "carol")
    monkeypatch.setattr(PostgresStore, "append", slow)
    first = lab.given()
    assert (first.executions, first.executions_left) == (3, False)
    assert owners(lab.bob)[lab.running] == "bob"
    assert used_by(lab, "bob") == 0


def test_it_stands_in_the_audit_log(lab: Lab) -> None:
    lab.given()
    entry = until(lambda: (e := lab.entry()).status is not None and e)
    assert (entry.user, entry.status, entry.target) == ("root", 200, PATH.format("red", "ada"))
    assert entry.changes == {"owner": ["ada", "bob"], "executions": [None, 3], "files": [None, "nothing"]}


def test_a_stream_of_the_heir_shows_it(lab: Lab) -> None:
    """The API caches the visibility of new entries of the journal."""
    with lab.api.http(make_token(lab.api.store, "bob")).stream("GET", "/api/v1/events") as stream:
        events = parse_events(stream.iter_lines())
        theirs = lab.bob.submit(document(part()))
        seen = {}
        for event in filter(None, events):
            data = json.loads(event.data)
            seen[data["kind"], data["execution_id"]] = data
            if ("submitted", theirs.id) in seen and ("owner_changed", lab.ended) in seen:
                break
            if data["execution_id"] == theirs.id and data["kind"] == "submitted":
                lab.given()
    assert lab.ended not in {execution for kind, execution in seen if kind != "owner_changed"}


@pytest.mark.parametrize(
    ("user", "to", "status", "code"),
    [
        ("ada", "ada", 422, "invalid_request"),
        ("ada", "nobody", 404, "not_found"),
        ("nobody", "bob", 404, "not_found"),
        ("ada", "stranger", 404, "not_found"),
        ("ada", "gone", 409, "illegal_state"),
        ("ada", "viewer", 409, "illegal_state"),
        ("root", "bob", 409, "own_account"),
    ],
)
def test_unsuitable_users_and_heirs_are_refused(api: Api, user: str, to: str, status: int, code: str) -> None:
    make_token(api.store, "bob")
    make_token(api.store, "stranger", "blue")
    make_token(api.store, "viewer", role="viewer")
    make_token(api.store, "gone")
    api.store.accounts.set_disabled("gone", True)
    refused = api.http(api.admin).post(PATH.format("red", user), json={"to": to})
    assert (refused.status_code, problem(refused)["code"]) == (status, code)
    assert not api.store.accounts.user("ada").disabled


def test_only_admins(api: Api) -> None:
    operator = make_token(api.store, "operator", role="operator", scopes=ALL_SCOPES)
    for token in (api.token, operator):
        refused = api.http(token).post(PATH.format("red", "ada"), json={"to": "operator"})
        assert refused.status_code == 403
    missing = api.http(api.admin).post(PATH.format("violet", "ada"), json={"to": "operator"})
    assert (missing.status_code, problem(missing)["code"]) == (404, "not_found")


def test_without_a_master_executions_are_handed_over_and_files_are_not(api: Api) -> None:
    made = api.client().submit(document(part()))
    make_token(api.store, "bob")
    refused = api.http(api.admin).post(PATH.format("red", "ada"), json={"to": "bob"})
    assert (refused.status_code, problem(refused)["code"]) == (503, "master_unreachable")
    assert api.store.execution(made.id).user == "bob"
