"""Workflows over the real API: all errors at once, one transaction, once per key, resumed, cancelled, private."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from tests.support.api import Api, in_threads, problem
from tests.support.limits import Quota, set_quota
from tests.support.master import TickingMaster
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_client import Client, Conflict, NotAllowed, NotFound
from zoe_client.vocabulary import ExecutionState, ShareLevel
from zoe_client.wire import WorkflowView
from zoe_lib.workflows.model import STEPS_MAX
from zoe_master.backends.simulated import ServiceBehaviour

PATH = "/api/v1/workflows"
ENDS = {"succeeded", "failed", "cancelled"}


def step(name: str, *needs: str, **more: Any) -> dict[str, Any]:
    """A step whose component has the name of the step, so that tests can say how it behaves."""
    part = {"name": name, "image": "zoe/tiny", "command": ["true"], "resources": {"memory": "64MiB"}}
    application = {"version": 4, "name": name, "components": [{**part, "ends_application": True}]}
    needed = {"needs": list(needs)} if needs else {}
    return {"name": name, "application": application, **needed, **more}


def workflow(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "name": "nightly", "steps": list(steps), **more}


def states(found: WorkflowView) -> dict[str, str]:
    return {step.name: step.state.value for step in found.graph}


def ended(client: Client, workflow_id: str) -> WorkflowView:
    return until(lambda: (w := client.workflows.one(workflow_id)).state in ENDS and w)


def exits(code: int) -> ServiceBehaviour:
    return ServiceBehaviour(run_s=0.0, exit_code=code)


CHAIN = workflow(step("clean", "any:second"), step("second", "first"), step("first"), step("third", "second"))


def test_steps_run_after_each_other(api: Api, master: TickingMaster) -> None:
    master.behaviours.update({name: exits(0) for name in ("first", "second", "third", "clean")})
    client = api.client()
    found = client.wait_for_workflow(client.workflows.run(CHAIN).id, 30)
    assert states(found) == dict.fromkeys(("first", "second", "clean", "third"), "succeeded")
    by_name = {step.name: step for step in found.graph}
    assert by_name["second"].after == ["ok:first"]
    assert by_name["first"].ended_at_s is not None
    started_s, ended_s = by_name["second"].started_at_s, by_name["first"].ended_at_s
    assert started_s is not None
    assert started_s >= ended_s
    [entry] = [entry for entry in api.store.accounts.audit(None, 10) if entry.action == "submit_workflow"]
    assert (entry.target, entry.status) == (PATH, 201)


def test_a_failure_skips_what_needs_it_and_runs_once_what_watches(api: Api, master: TickingMaster) -> None:
    master.behaviours.update({"first": exits(0), "second": exits(3), "clean": exits(0), "alarm": exits(0)})
    client = api.client()
    document = workflow(*CHAIN["steps"], step("alarm", on_failure=["first", "second", "third"]))
    found = client.wait_for_workflow(client.workflows.run(document).id, 30)
    assert found.state == "failed"
    assert states(found) == {
        "first": "succeeded",
        "second": "failed",
        "clean": "succeeded",
        "third": "skipped",
        "alarm": "succeeded",
    }
    assert len(client.executions(limit=50).executions) == 5
    alarm = next(step for step in found.graph if step.name == "alarm")
    assert client.execution(alarm.execution_id).attempt == 1


def test_it_goes_on_under_another_master(api: Api) -> None:
    master = api.start_master()
    client = api.client()
    workflow_id = client.workflows.run(CHAIN).id
    until(lambda: states(client.workflows.one(workflow_id))["first"] == "running")
    api.stop_master()
    master = api.start_master()
    first = client.workflows.one(workflow_id).graph[0]
    client.cancel(first.execution_id)
    master.behaviours["clean"] = exits(0)
    found = ended(client, workflow_id)
    assert states(found) == {"first": "cancelled", "second": "skipped", "clean": "succeeded", "third": "skipped"}
    assert found.state == "cancelled"


def test_it_is_cancelled_as_a_whole_and_nothing_starts_because_of_it(api: Api, master: TickingMaster) -> None:
    client = api.client()
    document = workflow(*CHAIN["steps"], step("alarm", on_failure=["first"]), step("late", "any:first"))
    workflow_id = client.workflows.run(document).id
    until(lambda: states(client.workflows.one(workflow_id))["first"] == "running")
    client.workflows.cancel(workflow_id)
    found = ended(client, workflow_id)
    assert set(states(found).values()) == {"cancelled"}
    assert found.state == "cancelled"
    assert all(step.started_at_s is None for step in found.graph if step.name != "first")
    assert client.workflows.cancel(workflow_id).state == "cancelled"


def test_it_is_resumed_from_the_failed_step(api: Api, master: TickingMaster) -> None:
    master.behaviours.update({"first": exits(0), "second": exits(3), "clean": exits(0)})
    client = api.client()
    before = client.wait_for_workflow(client.workflows.run(CHAIN).id, 30)
    master.behaviours.update({"second": exits(0), "third": exits(0)})
    client.workflows.resume(before.id, idempotency_key="again")
    after = client.wait_for_workflow(before.id, 30)
    assert client.workflows.resume(before.id, idempotency_key="again").run == 2
    assert set(states(after).values()) == {"succeeded"}
    ids = {step.name: step.execution_id for step in before.graph}
    same = {step.name for step in after.graph if ids[step.name] == step.execution_id}
    assert same == {"first"}  # `clean` runs after `second`, however that ends
    with pytest.raises(Conflict, match="nothing to resume"):
        client.workflows.resume(before.id)


def test_it_is_not_resumed_before_its_end_or_without_its_results(api: Api, master: TickingMaster) -> None:
    master.behaviours["first"] = exits(0)  # the second runs until it is cancelled
    client = api.client()
    results = workflow(step("first", results={"out": "out.txt"}), step("second", inputs={"in": "first.out"}))
    api.settings.workflow_results_kept_s = 0.001
    made = client.workflows.run(results)
    with pytest.raises(Conflict, match="has not ended"):
        client.workflows.resume(made.id)
    until(lambda: states(client.workflows.one(made.id))["second"] == "running")
    client.workflows.cancel(made.id)
    ended(client, made.id)
    with pytest.raises(Conflict, match="no longer exist"):
        client.workflows.resume(made.id)


def test_the_same_key_never_makes_a_second_one(api: Api) -> None:
    clients = [api.client() for _ in range(6)]
    ids = in_threads(6, lambda i: clients[i].workflows.run(CHAIN, idempotency_key="once").id)
    assert len(set(ids)) == 1
    assert len(clients[0].executions(limit=50).executions) == 4
    with pytest.raises(Conflict):
        clients[0].workflows.run(workflow(step("other")), idempotency_key="once")
    assert len(clients[0].workflows.page().workflows) == 1
    bob = api.client(make_token(api.store, "bob"))
    with pytest.raises(Conflict):
        bob.workflows.run(CHAIN, idempotency_key="once")


def test_a_quota_that_some_do_not_fit_in_refuses_all(api: Api) -> None:
    set_quota(api.store, "red", Quota(executions_max=3))
    refusal = problem(api.http().post(PATH, json={"document": CHAIN}))
    assert refusal["code"] == "quota_exceeded"
    client = api.client()
    assert client.executions().executions == []
    assert client.workflows.page().workflows == []


def test_everything_that_is_wrong_is_said_at_once(api: Api) -> None:
    document = copy.deepcopy(CHAIN)
    document["params"] = {"rows": {"type": "integer", "default": "many"}, "day": {}, "hour": {"type": "integer"}}
    document["colour"] = "red"
    document["steps"] += [
        step("a", "b"),
        step("b", "a"),
        {**step("dots", "nobody"), "name": ".."},
        step("first"),
        step("up", results={"x": "../x"}, inputs={"y": "first.y"}),
        step("big", matrix={"a": list(range(1000)), "b": list(range(1000)), "c": list(range(1000))}),
        {"name": "bare"},
        {"name": "short", "image": "zoe/tiny", "command": ["echo", "{param:nothing}"], "memory": "12 XB"},
    ]
    body = {"document": document, "parameters": {"hour": "noon", "colour": "red"}}
    refusal = problem(api.http().post(PATH, json=body))
    assert refusal["code"] == "invalid_description"
    found = {(entry["pointer"], entry["code"]) for entry in refusal["errors"]}
    assert found == {
        ("/colour", "unknown_key"),
        ("/params", "unknown_reference"),
        ("/steps/5/needs/0", "conflict"),
        ("/params/rows/default", "wrong_type"),
        ("/params/day", "missing"),
        ("/params/hour", "wrong_type"),
        ("/steps/6/name", "bad_format"),
        ("/steps/6/needs/0", "unknown_reference"),
        ("/steps/7/name", "duplicate"),
        ("/steps/8/results/x", "bad_format"),
        ("/steps/8/inputs/y", "unknown_reference"),
        ("/steps/9/matrix", "out_of_range"),
        ("/steps/10", "missing"),
        ("/steps/11/command/1", "bad_template"),
        ("/steps/11/memory", "bad_format"),
    }
    del document["steps"][7]
    errors = problem(api.http().post(f"{PATH}:validate", json=body))["errors"]
    assert any("a cycle: b after a after b" in error["message"] for error in errors)
    assert api.client().executions().executions == []


def test_oversized_step_is_refused_with_its_place(api: Api, master: TickingMaster) -> None:
    until(api.store.platform)
    short = {"name": "big", "image": "zoe/tiny", "command": ["true"], "memory": "{matrix:size}"}
    document = workflow({**short, "matrix": {"size": ["64MiB", "900GiB"]}}, step("other"))
    refusal = problem(api.http().post(PATH, json={"document": document}))
    assert refusal["code"] == "never_fits"
    assert [entry["pointer"] for entry in refusal["errors"]] == ["/steps/0"]
    assert "(in big.1)" in refusal["errors"][0]["message"]


def test_a_deadline_ends_what_has_not_ended_and_what_waits(api: Api, master: TickingMaster) -> None:
    master.behaviours["alarm"] = exits(0)
    client = api.client()
    document = workflow(*CHAIN["steps"], step("alarm", on_failure=["first"]), deadline_s=1.5)
    found = client.wait_for_workflow(client.workflows.run(document).id, 30)
    assert states(found)["first"] == states(found)["second"] == "failed"
    assert states(found)["alarm"] == "succeeded"
    assert {step.cause for step in found.graph if step.name != "alarm"} == {"time_limit"}


def test_the_largest_one_is_written_and_cancelled_and_a_larger_one_refused(api: Api) -> None:
    client = api.client()
    wide = workflow(step("many", matrix={"n": list(range(STEPS_MAX - 1))}), step("join", "many"))
    made = client.workflows.run(wide)
    assert made.steps_total == STEPS_MAX
    client.workflows.cancel(made.id)
    wide["steps"].append(step("more"))
    refusal = problem(api.http().post(PATH, json={"document": wide}))
    assert [entry["code"] for entry in refusal["errors"]] == ["out_of_range"]


def test_others_see_of_it_what_is_shared(api: Api) -> None:
    client = api.client()
    document = workflow(step("first"), step("second", "first"), params={"key": {"default": "hidden"}})
    made = client.workflows.run(document)
    bob = api.client(make_token(api.store, "bob"))
    eve = api.client(make_token(api.store, "eve", "blue"))
    for stranger in (bob, eve):
        assert stranger.workflows.page().workflows == []
        for call in (stranger.workflows.one, stranger.workflows.cancel, stranger.workflows.resume):
            with pytest.raises(NotFound) as hidden:
                call(made.id)
            with pytest.raises(NotFound) as missing:
                call("nothing")
            assert str(hidden.value).replace(made.id, "nothing") == str(missing.value)
    client.share(made.graph[0].execution_id, ShareLevel.LOOK, "bob")
    seen = bob.workflows.one(made.id)
    assert list(states(seen)) == ["first"]
    assert (seen.document, seen.parameters) == ({}, {})
    assert [workflow.id for workflow in bob.workflows.page().workflows] == [made.id]
    for call in (bob.workflows.cancel, bob.workflows.resume):
        with pytest.raises(NotAllowed):
            call(made.id)
    assert bob.workflows.of_execution(made.graph[0].execution_id) == made.id
    client.cancel(made.graph[0].execution_id)  # there is no master here that would end the other step
    seen = bob.workflows.one(made.id)
    assert (states(seen), seen.state, seen.ended_at_s) == ({"first": "cancelled"}, "running", None)
    assert bob.workflows.page().workflows[0].ended_at_s is None
    operator = api.client(make_token(api.store, "olga", role="operator", scopes=ALL_SCOPES))
    assert operator.workflows.one(made.id).parameters == {"key": "hidden"}
    assert {step.state for step in operator.workflows.cancel(made.id).graph} == {"cancelled"}
    assert bob.workflows.one(made.id).state == "cancelled"


def test_it_goes_with_its_executions(api: Api) -> None:
    """Their owner's hand-over, and their removal."""
    client = api.client()
    made = client.workflows.run(workflow(step("first")))
    client.workflows.cancel(made.id)
    execution = api.store.execution(made.graph[0].execution_id)
    assert execution.state is ExecutionState.CANCELLED
    make_token(api.store, "bob")
    from zoe_lib.domain.executions.events import OwnerChanged

    event = OwnerChanged(at_s=time.time(), former="ada", user="bob")
    api.store.append(execution.id, [event], execution.version, None)
    bob = api.client(make_token(api.store, "bob"))
    assert bob.workflows.one(made.id).user == "bob"
    with pytest.raises(NotFound):
        client.workflows.one(made.id)
    while api.store.sum_up():
        pass
    assert api.store.prune(time.time() + 365 * 86400) == 1
    assert api.store.workflows.of_execution(execution.id) is None
    with pytest.raises(NotFound):
        bob.workflows.one(made.id)


def test_lists_are_paged(api: Api) -> None:
    client = api.client()
    ids = [client.workflows.run(workflow(step("first"))).id for _ in range(3)]
    first = client.workflows.page(limit=2)
    second = client.workflows.page(limit=2, cursor=first.next_cursor)
    assert [workflow.id for page in (first, second) for workflow in page.workflows] == ids[::-1]
    assert second.next_cursor is None
