"""Steps with `for_each` over the real API: one transaction, resumed with the rest, cancelled, private."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.api.test_workflows import PATH, ended, exits, states, step, workflow
from tests.support.api import Api, problem
from tests.support.master import TickingMaster
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_client import Conflict, NotFound
from zoe_client.vocabulary import ListProblem, ShareLevel
from zoe_client.wire import ArrayModifyRequest, StepView, WorkflowView
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.submission.place import LeaderPlace
from zoe_master.background.list_thread import EntryListThread
from zoe_master.background.schedule_thread import look

PREPARE = step("prepare", results={"parts": "parts.json"})
COUNT = step("count", for_each={"part": "prepare.parts"}, results={"total": "total"})
DOCUMENT = workflow(PREPARE, COUNT, step("sum", inputs={"totals": "count.total"}), step("last", "any:count"))
ALL = ("prepare", "count", "sum", "last")


class Lists:
    """The contents of lists, read as a master's thread does."""

    def __init__(self, api: Api, master: TickingMaster) -> None:
        self.content = b"[]"
        self.read: list[str] = []
        self._thread = EntryListThread(master.master.due_lists, api.store, self._read, lambda: None)
        self.close = self._thread.close

    def _read(self, array: Array) -> bytes:
        assert array.entries is not None
        self.read.append(array.entries.path)
        return self.content


@pytest.fixture
def lists(api: Api, master: TickingMaster) -> Iterator[Lists]:
    master.behaviours.update({name: exits(0) for name in ALL})
    found = Lists(api, master)
    yield found
    found.close()


def arrays_of(api: Api) -> list[str]:
    return [array["id"] for array in api.http().get("/api/v1/arrays").json()["arrays"]]


def named(found: WorkflowView, name: str) -> StepView:
    return next(step for step in found.graph if step.name == name)


@pytest.mark.parametrize(("content", "count"), [(b'["a", "b", "c"]', 3), (b"[]", 0)])
def test_it_runs_once_for_each_entry_and_what_needs_it_runs_then(
    api: Api, lists: Lists, content: bytes, count: int
) -> None:
    lists.content = content
    client = api.client()
    made = client.workflows.run(DOCUMENT)
    assert (named(made, "count").for_each, named(made, "prepare").entries) == ({"part": "prepare.parts"}, None)
    found = client.wait_for_workflow(made.id, 30)
    assert states(found) == dict.fromkeys(ALL, "succeeded")
    assert lists.read == [f".zoe-workflows/{made.id}/1/prepare/parts.json"]
    entries = named(found, "count").entries
    assert entries is not None
    assert (entries.count, sum(entries.states.values()), entries.problem) == (count, count, None)
    array = client.arrays.array(named(found, "count").execution_id)
    assert (array.size, array.state) == (count, "succeeded")
    for number in range(count):
        assert client.workflows.of_execution(f"{array.id}_{number}") == made.id


def test_a_list_that_cannot_be_used_fails_the_step_and_is_made_again(
    api: Api, master: TickingMaster, lists: Lists
) -> None:
    lists.content = b'["a", null]'
    client = api.client()
    document = workflow(*DOCUMENT["steps"], step("alarm", on_failure=["count"]))
    master.behaviours["alarm"] = exits(0)
    before = client.wait_for_workflow(client.workflows.run(document).id, 30)
    assert states(before) == {
        "prepare": "succeeded",
        "count": "failed",
        "sum": "skipped",
        "last": "succeeded",
        "alarm": "succeeded",
    }
    failed = named(before, "count")
    assert failed.entries is not None
    assert (failed.entries.count, failed.entries.problem) == (None, ListProblem.BAD_ENTRY)
    assert failed.message.startswith("entry 1 of the list is null (")
    assert client.arrays.array(failed.execution_id).message == "entry 1 of the list is null"
    assert [execution.id for execution in client.executions(limit=50).executions if execution.id.startswith("a")] == []
    lists.content = b'["a"]'
    client.workflows.resume(before.id)
    after = client.wait_for_workflow(before.id, 30)
    assert {name: states(after)[name] for name in ALL} == dict.fromkeys(ALL, "succeeded")
    assert (named(after, "prepare").run, named(after, "count").run) == (2, 2)
    assert lists.read[-1] == f".zoe-workflows/{before.id}/2/prepare/parts.json"


def test_entries_that_have_not_succeeded_run_again_with_the_same_list(
    api: Api, master: TickingMaster, lists: Lists
) -> None:
    """Nothing else is left to submit here: the key of the request is that of the array."""
    master.behaviours["count"] = exits(3)
    lists.content = b'["a", "b"]'
    client = api.client()
    before = client.wait_for_workflow(client.workflows.run(workflow(PREPARE, COUNT)).id, 30)
    assert states(before) == {"prepare": "succeeded", "count": "failed"}
    step_of = named(before, "count")
    assert step_of.message == 'entries 0 ("a") and 1 ("b") failed'
    assert client.arrays.array(step_of.execution_id).message == step_of.message
    master.behaviours["count"] = exits(0)
    assert client.workflows.resume(before.id, idempotency_key="again").run == 2
    after = client.wait_for_workflow(before.id, 30)
    assert client.workflows.resume(before.id, idempotency_key="again").run == 2
    with pytest.raises(Conflict, match="nothing to resume"):
        client.workflows.resume(before.id)
    assert states(after) == {"prepare": "succeeded", "count": "succeeded"}
    array_id = named(before, "count").execution_id
    assert [step.execution_id for step in after.graph] == [step.execution_id for step in before.graph]
    assert len(lists.read) == 1
    ran = {execution.id for execution in client.executions(limit=50).executions} - {
        named(before, "prepare").execution_id
    }
    assert ran == {f"{array_id}_0", f"{array_id}_1", f"{array_id}_0r2", f"{array_id}_1r2"}


def test_steps_wait_for_the_entries_that_are_resumed(api: Api, master: TickingMaster, lists: Lists) -> None:
    master.behaviours["count"] = exits(3)
    lists.content = b'["a", "b"]'
    client = api.client()
    before = client.wait_for_workflow(client.workflows.run(DOCUMENT).id, 30)
    assert states(before) == {"prepare": "succeeded", "count": "failed", "sum": "skipped", "last": "succeeded"}
    del master.behaviours["count"]
    client.workflows.resume(before.id)
    until(lambda: states(client.workflows.one(before.id))["count"] == "running")
    assert {states(client.workflows.one(before.id))[name] for name in ("sum", "last")} == {"waiting"}
    array_id = named(before, "count").execution_id
    for number in range(2):
        until(lambda entry=f"{array_id}_{number}r2": client.execution(entry).state == "running")
        client.cancel(f"{array_id}_{number}r2")
    found = ended(client, before.id)
    assert (states(found)["count"], states(found)["sum"], states(found)["last"]) == (
        "cancelled",
        "skipped",
        "succeeded",
    )


def test_it_is_cancelled_whether_its_list_is_known_or_not(api: Api, master: TickingMaster, lists: Lists) -> None:
    lists.content = b"[1, 2, 3]"
    client = api.client()
    del master.behaviours["prepare"]
    early = client.workflows.run(DOCUMENT)
    until(lambda: states(client.workflows.one(early.id))["prepare"] == "running")
    client.workflows.cancel(early.id)
    assert set(states(ended(client, early.id)).values()) == {"cancelled"}
    assert lists.read == []
    master.behaviours["prepare"] = exits(0)
    del master.behaviours["count"]
    late = client.workflows.run(DOCUMENT)
    until(lambda: states(client.workflows.one(late.id))["count"] == "running")
    client.workflows.cancel(late.id)
    found = ended(client, late.id)
    assert states(found) == {"prepare": "succeeded", "count": "cancelled", "sum": "cancelled", "last": "cancelled"}


def test_a_failed_producer_skips_it(api: Api, master: TickingMaster, lists: Lists) -> None:
    master.behaviours["prepare"] = exits(1)
    client = api.client()
    found = client.wait_for_workflow(client.workflows.run(DOCUMENT).id, 30)
    assert states(found) == {"prepare": "failed", "count": "skipped", "sum": "skipped", "last": "succeeded"}
    assert lists.read == []


def test_a_promise_is_refused_since_its_number_is_not_known(api: Api) -> None:
    refusal = problem(api.http().post(PATH, json={"document": DOCUMENT, "finish_by": "+3h"}))
    assert "step count has `for_each`" in refusal["detail"]
    assert "matrix" in refusal["hint"]
    assert refusal["errors"][0]["pointer"] == "/finish_by"
    assert arrays_of(api) == []


def test_a_plan_says_for_which_list_it_runs(api: Api) -> None:
    document = workflow(PREPARE, {**COUNT, "at_once": 5})
    plan = api.client().workflows.validate(document)
    assert [(step.name, step.for_each, step.at_once) for step in plan.steps] == [
        ("prepare", {}, None),
        ("count", {"part": "prepare.parts"}, 5),
    ]
    assert arrays_of(api) == []


def test_a_submission_that_is_refused_leaves_no_array(api: Api) -> None:
    client = api.client()
    made = client.workflows.run(DOCUMENT, idempotency_key="once")
    assert client.workflows.run(DOCUMENT, idempotency_key="once").id == made.id
    assert arrays_of(api) == [named(made, "count").execution_id]
    with pytest.raises(Conflict):
        client.workflows.run(workflow(PREPARE, COUNT), idempotency_key="once")
    assert arrays_of(api) == [named(made, "count").execution_id]


def test_its_description_does_not_change_since_entries_were_checked_against_it(api: Api) -> None:
    client = api.client()
    array_id = named(client.workflows.run(DOCUMENT), "count").execution_id
    other = {**client.arrays.array(array_id).description, "name": "other"}
    with pytest.raises(Conflict, match="entries of a list"):
        client.arrays.modify(array_id, ArrayModifyRequest(application=other))
    assert client.arrays.modify(array_id, ArrayModifyRequest(at_once_max=2)).at_once_max == 2


def test_its_array_is_its_owners(api: Api) -> None:
    client = api.client()
    made = client.workflows.run(DOCUMENT)
    bob = api.client(make_token(api.store, "bob"))
    client.share(named(made, "prepare").execution_id, ShareLevel.LOOK, "bob")
    seen = bob.workflows.one(made.id)
    assert list(states(seen)) == ["prepare"]
    with pytest.raises(NotFound):
        bob.arrays.array(named(made, "count").execution_id)
    client.workflows.cancel(made.id)
    assert bob.workflows.one(made.id).state == "cancelled"


@pytest.mark.parametrize("overlap", ["skip", "replace"])
def test_a_scheduled_run_goes_on_while_its_array_does(
    api: Api, master: TickingMaster, lists: Lists, overlap: str
) -> None:
    """The array is its last step: all executions that are steps have ended."""
    lists.content = b"[1]"
    del master.behaviours["count"]
    body = {"expression": "0 * * * *", "document": workflow(PREPARE, COUNT), "overlap": overlap}
    due_s = api.http().put("/api/v1/schedules/hourly", json=body).raise_for_status().json()["due_s"]
    place = LeaderPlace(api.settings, api.store)
    look(place, due_s, lambda: None)
    client = api.client()
    [first] = client.workflows.page().workflows
    until(lambda: states(client.workflows.one(first.id))["count"] == "running")
    look(place, due_s + 3600, lambda: None)
    if overlap == "skip":
        assert [workflow.id for workflow in client.workflows.page().workflows] == [first.id]
        return
    assert len(client.workflows.page().workflows) == 2
    assert states(ended(client, first.id)) == {"prepare": "succeeded", "count": "cancelled"}


def test_it_goes_with_its_executions_and_arrays(api: Api) -> None:
    client = api.client()
    made = client.workflows.run(DOCUMENT)
    client.workflows.cancel(made.id)
    while api.store.sum_up():
        pass
    later_s = time.time() + 365 * 86400
    while api.store.prune(later_s):
        pass
    with pytest.raises(NotFound):
        client.workflows.one(made.id)
    assert api.store.workflows.of_execution(named(made, "count").execution_id) is None
