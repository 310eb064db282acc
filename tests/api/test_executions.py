"""Executions through the SDK over loopback: submit, list, show, explain, cancel, usage."""

from __future__ import annotations

import pytest

from tests.support.api import Api
from tests.support.documents import document, job, part
from tests.support.master import TickingMaster
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_client import Client, Conflict, InvalidDescription, NeverFits, NotFound, Refused
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.simulated import ServiceBehaviour


@pytest.fixture
def client(api: Api) -> Client:
    """Ada's, over a socket as users have it."""
    return api.client()


def until_state(client: Client, execution_id: str, *states: ExecutionState) -> None:
    until(lambda: client.execution(execution_id).state in states, lambda: client.execution(execution_id))


def test_submit_and_show(client: Client) -> None:
    submitted = client.submit(job("echo", "a"), name="first", priority=5, deadline_s=60)
    shown = client.execution(submitted.id)
    assert shown == submitted
    assert (shown.name, shown.application, shown.priority) == ("first", "job", 5)
    assert shown.deadline_s == pytest.approx(shown.submitted_at_s + 60)
    assert (shown.tenant, shown.user, shown.state) == ("red", "ada", "submitted")
    assert [s.name for s in shown.services] == ["main-0"]
    assert shown.description["components"][0]["command"] == ["echo", "a"]


def test_it_runs_to_its_end(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.2)
    execution = client.submit(job())
    until_state(client, execution.id, ExecutionState.SUCCEEDED)
    ended = client.execution(execution.id)
    assert ended.exit_code == 0
    assert [mark.value for mark in ended.marks] == ["queued", "admitted", "placed", "started", "ready", "ended"]
    kinds = [event.kind for event in client.events(execution.id).events]
    assert kinds[0] == "submitted"
    assert kinds[-1] == "ended"


def test_submitting_wakes_the_master(client: Client, master: TickingMaster) -> None:
    execution = client.submit(job())
    until_state(client, execution.id, ExecutionState.RUNNING)
    causes = {event.kind: event.cause_id for event in client.events(execution.id).events}
    assert causes["submitted"].startswith("req-")
    assert causes["start_planned"].startswith("plan-")


def test_pages_hold_every_execution_once(client: Client) -> None:
    submitted = [client.submit(job(), name=f"number {n}").id for n in range(7)]
    seen: list[str] = []
    cursor = None
    while True:
        page = client.executions(limit=3, cursor=cursor)
        seen += [execution.id for execution in page.executions]
        cursor = page.next_cursor
        if cursor is None:
            break
        assert len(page.executions) == 3
    assert seen == submitted[::-1]


def test_lists_are_filtered(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1)
    first, second = client.submit(job(), name="apples"), client.submit(job(), name="pears")
    for execution in (first, second):
        until_state(client, execution.id, ExecutionState.SUCCEEDED)
    assert [e.id for e in client.executions(name="PEAR").executions] == [second.id]
    assert client.executions(states=[ExecutionState.RUNNING, ExecutionState.QUEUED]).executions == []
    assert len(client.executions(states=[ExecutionState.SUCCEEDED]).executions) == 2
    assert client.executions(user="bob").executions == []


def test_a_description_is_refused_with_every_finding(client: Client) -> None:
    bad = document(
        part("UPPER", "x"), part("two", "{host:nobody}", essential_count=3, total_count=1), surprise=1, name=""
    )
    with pytest.raises(InvalidDescription) as refused:
        client.submit(bad)
    found = {(e.code, e.pointer) for e in refused.value.problem.errors}
    assert {("unknown_key", "/surprise"), ("bad_format", "/components/0/name")} <= found
    assert len(found) >= 4
    assert client.executions().executions == []


def test_oversized_component_is_refused_with_a_hint(client: Client, master: TickingMaster) -> None:
    until(lambda: client.nodes().nodes)
    with pytest.raises(NeverFits) as refused:
        client.submit(document(part(resources={"memory": "1TiB", "cores": 1})))
    assert "component main needs" in refused.value.problem.detail
    assert refused.value.problem.hint


def test_before_any_node_is_known_everything_is_accepted(client: Client) -> None:
    assert client.submit(document(part(resources={"memory": "1TiB", "cores": 1}))).state == "submitted"


def test_a_guarantee_needs_a_controller_and_a_preference_does_not(client: Client) -> None:
    bandwidth = {"read": "40MB/s", "guarantee": "required"}
    with pytest.raises(Refused) as refused:
        client.submit(job(storage={"bandwidth": bandwidth}))
    assert refused.value.problem.code == "storage_guarantee_unavailable"
    execution = client.submit(job(storage={"bandwidth": {**bandwidth, "guarantee": "preferred"}}))
    assert "without the bandwidth that it prefers" in execution.notes[0]


def test_explain_tells_of_each_node(client: Client, master: TickingMaster) -> None:
    big = document(part(resources={"memory": "6GiB", "cores": 4}, essential_count=2, total_count=2))
    running, waiting = client.submit(big), client.submit(big)
    until_state(client, running.id, ExecutionState.RUNNING)
    answer = client.explain(waiting.id)
    assert answer.detailed
    assert answer.reason is not None
    assert answer.reason.code == "no_resources"
    assert set(answer.nodes) == {"n1", "n2"}
    assert answer.change is None  # no node has a core left
    assert client.explain(running.id).reason is None
    waited = client.why_waited(waiting.id)
    assert sum(share.percent for share in waited.causes) == 100
    assert waited.waited_s == pytest.approx(sum(share.seconds for share in waited.causes))
    assert waited.spans[-1].cause == "cluster_full"


def test_fewer_than_preferred_instances_have_a_reason(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1)
    until_state(client, client.submit(job()).id, ExecutionState.SUCCEEDED)
    worker = part(
        resources={"memory": "1GiB", "cores": 2}, essential_count=1, preferred_count=5, total_count=6, name="worker"
    )
    planned = client.plan(document(worker))
    assert planned.starts_now
    assert [(count.given, count.preferred, count.total) for count in planned.instances] == [(4, 5, 6)]
    assert planned.fewer is not None
    assert planned.fewer.code == "no_resources"
    running = client.submit(document(worker))
    until_state(client, running.id, ExecutionState.RUNNING)
    until(lambda: [count.given for count in client.execution(running.id).instances] == [4])
    answer = client.explain(running.id)
    assert answer.reason is None
    assert [(count.component, count.given, count.preferred, count.total) for count in answer.instances] == [
        ("worker", 4, 5, 6)
    ]
    assert answer.fewer is not None
    assert answer.fewer.sentence.startswith("Another instance of worker needs 2 cores and 1 GiB, and no node has room")
    listed = client.executions().executions[0]
    assert (listed.elastic_total, listed.elastic_preferred) == (5, 4)


def test_explain_names_those_ahead_of_the_own_tenant_and_counts_the_others(
    api: Api, client: Client, master: TickingMaster
) -> None:
    big = document(part(resources={"memory": "6GiB", "cores": 4}, essential_count=2, total_count=2))
    until_state(client, client.submit(big).id, ExecutionState.RUNNING)
    stranger = api.client(make_token(api.store, "bob", "blue"))
    ahead, others, last = client.submit(big), stranger.submit(big), client.submit(big)
    answer = client.explain(last.id)
    assert (answer.ahead, answer.ahead_of_tenant, answer.ahead_ids) == (2, 1, [ahead.id])
    of_stranger = stranger.explain(others.id)
    assert (of_stranger.ahead, of_stranger.ahead_of_tenant, of_stranger.ahead_ids) == (1, 0, [])


def test_eta_says_when_it_starts_and_what_was_told_stays(client: Client, master: TickingMaster) -> None:
    resources = {"memory": "6GiB", "cores": 4}
    two = [part(resources=resources, essential_count=2, total_count=2)]
    hour = {"version": 4, "name": "hour", "components": two, "size": {"run_time_s": 3600}}
    running, waiting = client.submit(hour), client.submit(hour)
    until_state(client, running.id, ExecutionState.RUNNING)
    told = until(lambda: client.execution(waiting.id).forecast)
    assert told is not None
    assert told.wait_s == pytest.approx(3600, abs=60)
    assert told.start_p50_s is not None
    assert told.end_p90_s is not None
    assert told.start_p50_s < told.end_p90_s
    answer = client.eta(waiting.id)
    assert answer.run_time_source == "declared"
    assert answer.forecast is not None
    assert answer.forecast.run_s == 3600
    assert (answer.told, answer.forecast.samples) == (0, 0)
    client.cancel(running.id)
    until_state(client, waiting.id, ExecutionState.RUNNING)
    assert client.execution(waiting.id).forecast == told
    running_on = client.eta(waiting.id).forecast
    assert running_on is not None
    assert running_on.end_p50_s == pytest.approx(client.execution(waiting.id).marks["placed"] + 3600, abs=60)
    third = client.submit(hour)
    until(lambda: client.execution(third.id).forecast)
    record = client.eta(third.id)
    assert (record.told, record.held) == (1, 1), (told, client.execution(waiting.id))


def test_nodes_and_usage(client: Client, master: TickingMaster) -> None:
    execution = client.submit(job())
    until_state(client, execution.id, ExecutionState.RUNNING)
    nodes = client.nodes().nodes
    assert [(n.name, n.cores, n.ready) for n in nodes] == [("n1", 4, True), ("n2", 4, True)]
    assert sum(n.services for n in nodes) == 1
    assert sum(n.reserved_cores for n in nodes) == pytest.approx(0.1)
    assert [u.execution_id for u in client.usage().usage] == [execution.id]
    assert client.execution_usage(execution.id).usage == []


def test_status_with_a_master(client: Client, master: TickingMaster) -> None:
    client.submit(job())
    until(lambda: client.status().executions[ExecutionState.RUNNING] == 1)
    status = client.status()
    assert status.master is not None
    assert status.master["leader"] == "test"
    assert status.journal_id > 0


def test_unknown_execution_is_not_found(client: Client) -> None:
    for call in (client.execution, client.cancel, client.explain, client.events, client.execution_usage):
        with pytest.raises(NotFound) as refused:
            call("x000/../nothing")
        assert refused.value.problem.code in ("not_found", "no_such_route")


def test_cancel_before_it_is_seen(client: Client) -> None:
    execution = client.submit(job())
    assert client.cancel(execution.id).state == "cancelled"
    assert client.cancel(execution.id).state == "cancelled"
    assert client.execution(execution.id).message == "cancelled by ada"


@pytest.mark.parametrize("state", [ExecutionState.QUEUED, ExecutionState.STARTING, ExecutionState.RUNNING])
def test_cancel_wherever_it_is(api: Api, state: ExecutionState) -> None:
    master, client = api.start_master(), api.client()
    if state is ExecutionState.QUEUED:
        blocker = document(part(resources={"memory": "6GiB", "cores": 4}, essential_count=2, total_count=2))
        until_state(client, client.submit(blocker).id, ExecutionState.RUNNING)
    master.behaviours["main"] = ServiceBehaviour(start_s=60.0 if state is ExecutionState.STARTING else 0.0)
    execution = client.submit(job())
    until_state(client, execution.id, state)
    assert client.cancel(execution.id).state in ("stopping", "cancelled")
    until_state(client, execution.id, ExecutionState.CANCELLED)
    assert [s.state for s in client.execution(execution.id).services] == ["ended"]


def test_cancel_while_it_stops_keeps_its_outcome(api: Api) -> None:
    master, client = api.start_master(), api.client()
    master.behaviours = {"main": ServiceBehaviour(run_s=0.2), "helper": ServiceBehaviour(stop_s=5.0)}
    execution = client.submit(document(part("helper"), part("main", ends_application=True)))
    until_state(client, execution.id, ExecutionState.STOPPING)
    assert client.cancel(execution.id).outcome == "succeeded"


def test_cancel_while_a_failure_is_about_to_be_tried_again(api: Api) -> None:
    master, client = api.start_master(), api.client()
    master.behaviours = {"main": ServiceBehaviour(run_s=0.2, exit_code=1), "helper": ServiceBehaviour(stop_s=1.0)}
    execution = client.submit(document(part("helper"), part("main", ends_application=True), retries=5))
    until_state(client, execution.id, ExecutionState.STOPPING)
    assert client.cancel(execution.id).outcome == "cancelled"
    until_state(client, execution.id, ExecutionState.CANCELLED)
    assert client.execution(execution.id).attempt == 1


def test_cancel_after_its_end_is_a_conflict(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.0)
    execution = client.submit(job())
    until_state(client, execution.id, ExecutionState.SUCCEEDED)
    with pytest.raises(Conflict) as refused:
        client.cancel(execution.id)
    assert refused.value.problem.code == "already_ended"


def test_explain_while_it_starts_says_that_nothing_is_in_its_way(client: Client, master: TickingMaster) -> None:
    """Also while what the master saw last still has it in the queue."""
    master.behaviours["main"] = ServiceBehaviour(start_s=0.3, run_s=0.1)
    for _ in range(5):
        started = client.submit(job())
        while client.execution(started.id).state in ("submitted", "queued", "starting"):
            answer = client.explain(started.id)
            assert answer.reason is None or answer.state == "queued"
