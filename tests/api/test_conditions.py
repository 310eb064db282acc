"""Dependencies, begin times, holds, changes and new attempts, through the SDK with a master that ticks."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.support.api import Api
from tests.support.documents import document, job, part
from tests.support.master import TickingMaster
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_client import Client, Conflict, InvalidDescription, NotAllowed, NotFound, Refused, wire
from zoe_client.vocabulary import ExecutionState, ShareLevel
from zoe_master.backends.simulated import ServiceBehaviour

NEVER_S = 3e9


def state(client: Client, execution_id: str) -> ExecutionState:
    return client.execution(execution_id).state


def ended(client: Client, execution_id: str) -> wire.ExecutionView:
    return client.wait(execution_id, timeout_s=20)


def test_one_runs_after_another(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1)
    first = client.submit(job(), hold=True)
    second = client.submit(job(), after=[f"ok:{first.id}"])
    third = client.submit(job(), after=[f"fail:{second.id}", f"ok:{first.id}"])
    assert second.reason is not None
    assert (second.state, second.reason.code) == ("submitted", "dependencies")
    assert client.explain(second.id).reason.sentence == "It runs after another execution."  # type: ignore[union-attr]
    client.release(first.id)
    done = ended(client, second.id)
    assert done.state == "succeeded"
    assert done.conditions is not None
    assert [(dependency.kind, dependency.on, dependency.met) for dependency in done.conditions.after] == [
        ("ok", first.id, True)
    ]
    assert ended(client, first.id).marks["ended"] <= done.marks["queued"]  # type: ignore[index]
    refused = ended(client, third.id)
    assert (refused.state, refused.cause) == ("failed", "dependency_failed")
    waits = client.why_waited(second.id)
    assert waits.causes[0].cause == "conditions"


def test_a_batch_names_its_own_executions(client: Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    parts = [
        wire.SubmitRequest(application=job(), after=[f"any:#{number}"] if number >= 0 else []) for number in (-1, 0, 1)
    ]
    batch = client.submit_batch(parts)
    shown = client.execution(batch.ids[2])
    assert shown.conditions is not None
    assert [dependency.on for dependency in shown.conditions.after] == [batch.ids[1]]
    assert ended(client, batch.ids[2]).state == "succeeded"


@pytest.mark.parametrize("after", ["ok:#1", "ok:#2", "ok:#99"])
def test_in_a_batch_only_what_stands_before(client: Client, after: str) -> None:
    bad = [wire.SubmitRequest(application=job()), wire.SubmitRequest(application=job(), after=[after])]
    with pytest.raises(Refused) as refused:
        client.submit_batch(bad)
    assert refused.value.problem.errors[0].pointer == "/executions/1/after/0"
    assert not client.executions().executions


def test_others_cannot_be_probed_by_dependencies(api: Api, client: Client) -> None:
    """A missing execution and another user's are refused with the same words."""
    other = api.client(make_token(api.store, "bob", "red")).submit(job())
    said = []
    for on in (other.id, "x0000000000000"):
        with pytest.raises(Refused) as refused:
            client.submit(job(), after=[f"ok:{on}"])
        said.append(str(refused.value).replace(on, "ID"))
    assert said[0] == said[1]
    api.client(make_token(api.store, "bob", "red")).share(other.id, ShareLevel.LOOK, "ada")
    assert client.submit(job(), after=[f"ok:{other.id}"]).state == "submitted"


@pytest.mark.parametrize("odd", [{"keep": True}, {"begin_at_s": 5, "begin_in_s": 5}])
def test_conditions_that_say_nothing_or_twice_are_refused(shared_api: Api, odd: dict[str, object]) -> None:
    answer = shared_api.http().post("/api/v1/executions", json={"application": job(), **odd})
    assert answer.status_code == 422


@pytest.mark.parametrize("text", ["ok", "ok:", "later:x1", "ok:a b", "ok:x1,ok:x2", "ok:#-1", "ok:" + "x" * 90])
def test_invalid_dependency_is_refused(shared_api: Api, text: str) -> None:
    answer = shared_api.http().post("/api/v1/executions", json={"application": job(), "after": [text]})
    assert answer.status_code == 422


def test_a_share_does_not_tell_what_it_runs_after(api: Api, client: Client, master: TickingMaster) -> None:
    """The other execution may be hidden from those with whom this one is shared."""
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    hidden = client.submit(job(), name="hidden")
    for after, keep in ((f"ok:{hidden.id}", False), (f"fail:{hidden.id}", True), (f"fail:{hidden.id}", False)):
        shared = client.submit(job(), after=[after], keep=keep)
        bob = api.client(make_token(api.store, "bob", "red"))
        client.share(shared.id, ShareLevel.LOOK, "bob")
        until(lambda shared=shared: any(e.kind == "dependency_ended" for e in client.events(shared.id).events))  # type: ignore[misc]
        told = bob.execution(shared.id).model_dump_json() + bob.events(shared.id).model_dump_json()
        told += bob.explain(shared.id).model_dump_json() + bob.executions().model_dump_json()
        assert hidden.id not in told
        assert hidden.id in client.execution(shared.id).model_dump_json()


def test_the_same_key_gives_the_same_execution_with_its_conditions(client: Client) -> None:
    first = client.submit(job(), hold=True)
    once = client.submit(job(), after=[f"ok:{first.id}"], keep=True, idempotency_key="k")
    assert client.submit(job(), after=[f"ok:{first.id}"], keep=True, idempotency_key="k").id == once.id
    with pytest.raises(Conflict):
        client.submit(job(), after=[f"ok:{first.id}"], idempotency_key="k")


def test_held_until_released(client: Client, master: TickingMaster) -> None:
    execution = client.submit(job(), hold=True)
    other = client.submit(job())
    until(lambda: state(client, other.id) is ExecutionState.RUNNING)
    assert state(client, execution.id) is ExecutionState.SUBMITTED
    assert client.explain(execution.id).reason.code == "held"  # type: ignore[union-attr]
    assert client.hold(execution.id).version == execution.version  # again is the same
    client.release(execution.id)
    until(lambda: state(client, execution.id) is ExecutionState.RUNNING)
    with pytest.raises(Conflict):
        client.hold(execution.id)
    assert client.release(execution.id).state == "running"
    client.cancel(execution.id)
    until(lambda: state(client, execution.id) is ExecutionState.CANCELLED)
    with pytest.raises(Conflict):
        client.release(execution.id)


def test_queued_execution_can_be_held(client: Client, master: TickingMaster) -> None:
    big = document(part("main", "serve", ends_application=True, resources={"memory": "1GiB", "cores": 4}))
    for _ in range(2):
        client.submit(big)
    waiting = client.submit(big)
    until(lambda: state(client, waiting.id) is ExecutionState.QUEUED)
    client.hold(waiting.id)
    held = client.execution(waiting.id)
    assert (held.state, "queued" in held.marks) == ("submitted", False)
    until(lambda: client.execution(waiting.id).reason.code == "held")  # type: ignore[union-attr]
    client.release(waiting.id)
    until(lambda: state(client, waiting.id) is ExecutionState.QUEUED)


def test_only_operators_release_what_an_operator_holds(api: Api, client: Client) -> None:
    execution = client.submit(job(), begin_at_s=NEVER_S)
    operator = api.client(make_token(api.store, "root", "red", "operator", ALL_SCOPES))
    operator.hold(execution.id)
    with pytest.raises(NotAllowed) as refused:
        client.release(execution.id)
    assert refused.value.problem.code == "held_by_operator"
    assert operator.release(execution.id).conditions.held is None  # type: ignore[union-attr]


@pytest.mark.parametrize("do", ["hold", "release", "requeue"])
def test_control_needs_a_share_that_gives_it(api: Api, client: Client, do: str) -> None:
    execution = client.submit(job(), begin_at_s=NEVER_S)
    bob = api.client(make_token(api.store, "bob", "red"))
    act: Callable[[str], object] = getattr(bob, do)
    with pytest.raises(NotFound):
        act(execution.id)
    client.share(execution.id, ShareLevel.OPEN, "bob")
    with pytest.raises(NotAllowed):
        act(execution.id)
    with pytest.raises(NotAllowed):
        bob.modify(execution.id, wire.ModifyRequest(priority=-1))


def test_a_waiting_execution_is_modified_and_its_history_says_how(client: Client) -> None:
    execution = client.submit(job(), begin_at_s=NEVER_S)
    changed = client.modify(execution.id, wire.ModifyRequest(priority=-5, deadline_s=60))
    assert changed.priority == -5
    assert changed.deadline_s == pytest.approx(time.time() + 60, abs=10)
    assert changed.conditions == execution.conditions  # fields that are left out keep their values
    document = {**changed.description, "time_limit_s": 90}
    document["components"][0]["resources"]["memory"] = "2GiB"
    again = client.modify(execution.id, wire.ModifyRequest(application=document, deadline_s=None))
    assert (again.description["time_limit_s"], again.deadline_s) == (90, None)
    assert client.execution(execution.id) == again
    events = [event for event in client.events(execution.id).events if event.kind == "modified"]
    assert [event.data["what"] for event in events] == [
        "priority 0 to -5; deadline",
        "deadline; time limit none to 90 s; component main",
    ]
    assert client.modify(execution.id, wire.ModifyRequest(priority=-5)).version == again.version
    assert not any("application" in event.data["after"] for event in events)  # it has values of the environment


def test_only_its_owner_changes_what_runs_as_the_owner(api: Api, client: Client) -> None:
    """A user who changes the command would run it with the owner's files and secrets."""
    secretive = document(part("main", "true", ends_application=True, environment={"KEY": "hers"}))
    execution = client.submit(secretive, begin_at_s=NEVER_S)
    bob = api.client(make_token(api.store, "bob", "red"))
    client.share(execution.id, ShareLevel.CONTROL, "bob")
    operator = api.client(make_token(api.store, "root", "red", "operator", ALL_SCOPES))
    for other in (bob, operator):
        shown = other.execution(execution.id).description
        shown["components"][0]["command"] = ["cat", "{workspace}/private"]
        with pytest.raises(NotAllowed, match="only its owner"):
            other.modify(execution.id, wire.ModifyRequest(application=shown))
    changed = bob.modify(execution.id, wire.ModifyRequest(priority=-3, time_limit_s=60))
    assert (changed.priority, changed.description["time_limit_s"]) == (-3, 60)
    kept = client.execution(execution.id).description["components"][0]
    assert (kept["command"], kept["environment"]) == (["true"], {"KEY": "hers"})


def test_an_operators_hold_stands_above_the_users(api: Api, client: Client) -> None:
    execution = client.submit(job(), hold=True)
    operator = api.client(make_token(api.store, "root", "red", "operator", ALL_SCOPES))
    operator.hold(execution.id)
    with pytest.raises(NotAllowed):
        client.release(execution.id)
    assert client.hold(execution.id).conditions.held == "operator"  # type: ignore[union-attr]
    assert operator.release(execution.id).conditions is None


def test_the_next_attempt_has_the_memory_that_was_asked_for_last(client: Client, master: TickingMaster) -> None:
    execution = client.submit(job(), hold=True)
    document = client.execution(execution.id).description
    document["components"][0]["resources"]["memory"] = "3GiB"
    client.modify(execution.id, wire.ModifyRequest(application=document))
    client.release(execution.id)
    until(lambda: state(client, execution.id) is ExecutionState.RUNNING)
    assert sum(node.reserved_memory_bytes for node in client.nodes().nodes) == 3 * 2**30


def test_a_modification_is_checked_as_a_submission_is(client: Client, master: TickingMaster) -> None:
    execution = client.submit(job(), hold=True)
    until(lambda: client.nodes().nodes)
    for change, kind in (
        ({**execution.description, "components": []}, InvalidDescription),
        (document(part("main", "x", ends_application=True, resources={"memory": "900GiB"})), Refused),
        (document(part("main", "x", ends_application=True), part("more", "y")), InvalidDescription),
    ):
        with pytest.raises(kind):
            client.modify(execution.id, wire.ModifyRequest(application=change))
    assert client.execution(execution.id).version == execution.version


def test_running_execution_is_requeued_but_not_modified(client: Client, master: TickingMaster) -> None:
    execution = client.submit(job())
    until(lambda: state(client, execution.id) is ExecutionState.RUNNING)
    with pytest.raises(Conflict):
        client.modify(execution.id, wire.ModifyRequest(priority=-1))
    for attempt in (2, 3, 4, 5):  # more often than the platform's own retries
        client.requeue(execution.id)
        until(lambda number=attempt: _runs(client, execution.id, number))  # type: ignore[misc]
    shown = client.execution(execution.id)
    assert shown.attempt == 5
    client.cancel(execution.id)
    until(lambda: state(client, execution.id) is ExecutionState.CANCELLED)
    with pytest.raises(Conflict):
        client.requeue(execution.id)


def _runs(client: Client, execution_id: str, attempt: int) -> bool:
    shown = client.execution(execution_id)
    return shown.state is ExecutionState.RUNNING and shown.attempt == attempt


def test_scaled_while_it_runs(client: Client, master: TickingMaster) -> None:
    parts = (part("main", "serve", ends_application=True), part("worker", "w", essential_count=1, total_count=2))
    execution = client.submit(document(*parts))
    until(lambda: client.execution(execution.id).elastic_ready == 1)
    client.scale(execution.id, {"worker": 4})
    until(lambda: client.execution(execution.id).elastic_ready == 3)
    shown = client.scale(execution.id, {"worker": 1})
    assert (shown.elastic_total, client.scale(execution.id, {"worker": 1}).elastic_total) == (0, 0)
    alive = ("starting", "ready", "stopping")
    until(lambda: sum(s.state in alive for s in client.execution(execution.id).services) == 2)
    assert {s.cause for s in client.execution(execution.id).services if s.state == "ended"} == {"scaled_down"}
    assert shown.description["components"][1]["total_count"] == 1
    assert sum(node.services for node in client.nodes().nodes) == 2


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({"worker": 0}, "too_low"),
        ({"nobody": 1}, "unknown"),
        ({"worker": 10_000}, "too_high"),
        ({"main": 2}, "too_high"),
        ({"more": 0}, "too_low"),
    ],
)
def test_scaled_within_bounds_only(client: Client, counts: dict[str, int], code: str) -> None:
    parts = (
        *(part("main", "serve", ends_application=True), part("worker", "w", essential_count=1, total_count=2)),
        part("more", "m", essential_count=0, total_count=2),
    )
    execution = client.submit(document(*parts))
    with pytest.raises(Refused) as refused:
        client.scale(execution.id, counts)
    assert [error.code for error in refused.value.problem.errors] == [code]
    client.cancel(execution.id)
    with pytest.raises(Conflict):
        client.scale(execution.id, {"worker": 3})
