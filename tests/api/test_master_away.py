"""While the master is down: submissions are accepted and run later, and every other answer is correct."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.support.api import Api, in_threads
from tests.support.documents import job
from tests.support.waiting import until
from zoe_client import Unreachable
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.simulated import ServiceBehaviour


def test_executions_submitted_meanwhile_run_when_the_master_returns(api: Api) -> None:
    client = api.client()
    executions = [client.submit(job()) for _ in range(3)]
    assert {client.execution(e.id).state for e in executions} == {ExecutionState.SUBMITTED}
    api.start_master().behaviours["main"] = ServiceBehaviour(run_s=0.1)
    for execution in executions:
        assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED


def test_readiness_says_so_and_stays_ready(api: Api) -> None:
    http = api.http(None)
    answer = http.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"database": "ok", "master": "not reachable"})
    api.start_master()
    assert until(lambda: (again := http.get("/readyz").json())["master"] == "ok" and again) == {
        "database": "ok",
        "master": "ok",
    }


def test_status_says_so(api: Api) -> None:
    api.client().submit(job())
    status = api.client().status()
    assert status.master is None
    assert "submissions are accepted and run later" in status.master_message
    assert status.executions[ExecutionState.SUBMITTED] == 1


def test_explain_gives_what_was_stored_last(api: Api) -> None:
    client = api.client()
    big = {"version": 4, "name": "big", "components": [big_part()]}
    api.start_master()
    first, second = client.submit(big), client.submit(big)
    until(lambda: client.execution(second.id).reason)
    told = until(lambda: client.execution(second.id).forecast)
    api.stop_master()
    assert client.eta(second.id).forecast == told
    answer = client.explain(second.id)
    assert not answer.detailed
    assert answer.reason == client.execution(second.id).reason
    assert answer.nodes == {}
    assert client.explain(first.id).state in (ExecutionState.STARTING, ExecutionState.RUNNING)


def big_part() -> dict[str, object]:
    resources = {"memory": "6GiB", "cores": 4}
    return {"name": "m", "image": "zoe/tiny", "resources": resources, "essential_count": 2, "total_count": 2}


def test_logs_and_usage_say_that_only_the_master_knows(api: Api) -> None:
    client = api.client()
    execution = client.submit(job())
    with pytest.raises(Unreachable, match="master is not reachable"):
        client.logs(execution.id, execution.services[0].id)
    with pytest.raises(Unreachable, match="master is not reachable"):
        client.usage()


def test_cancelling_needs_no_master(api: Api) -> None:
    execution = api.client().submit(job())
    assert api.client().cancel(execution.id).state is ExecutionState.CANCELLED


def test_questions_that_wait_do_not_keep_submissions_waiting(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """More questions than the process has threads, and followers of output, while each attempt takes for ever."""
    client = api.client()
    execution = client.submit(job())
    path = f"/api/v1/executions/{execution.id}/services/{execution.services[0].id}/logs/stream"
    with pytest.raises(Unreachable):
        client.usage()
    answered = threading.Event()
    monkeypatch.setattr(api.master_client, "_try", lambda *_: answered.wait())

    def ask(_: int) -> None:
        api.http().get("/api/v1/usage", timeout=None)

    def follow(_: int) -> None:
        with api.http().stream("GET", path, timeout=None) as stream:
            for _line in stream.iter_lines():
                pass

    waiting = [threading.Thread(target=work, args=(n,), daemon=True) for work in (ask, follow) for n in range(50)]
    for thread in waiting:
        thread.start()
    assert all(client.submit(job()).state is ExecutionState.SUBMITTED for _ in range(10))
    client.cancel(execution.id)
    monkeypatch.undo()
    answered.set()
    api.start_master()
    for thread in waiting:
        thread.join(60)
        assert not thread.is_alive()


def test_a_master_that_comes_back_is_found_by_all(api: Api) -> None:
    with pytest.raises(Unreachable):
        api.client().usage()
    api.start_master()
    until(lambda: api.client().status().master)
    clients = [api.client() for _ in range(10)]
    assert all(answer.usage == [] for answer in in_threads(10, lambda n: clients[n].usage()))


def test_one_question_waits_for_the_master_and_no_request(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of status nor of readiness, however long an attempt takes; its return is seen."""
    questions, answered = [], threading.Event()

    def never(*question: object) -> None:
        questions.append(question)
        answered.wait()

    monkeypatch.setattr(api.master_client, "_try", never)
    client = api.client()
    assert all(client.status().master is None for _ in range(100))
    assert api.http(None).get("/readyz").json()["master"] == "not reachable"
    assert len(questions) == 1
    monkeypatch.undo()
    answered.set()
    api.start_master()
    until(lambda: client.status().master)


def test_status_opens_no_file(api: Api) -> None:
    """An installed version is read from a file, which a process without free descriptors cannot open."""
    opened: list[str] = []
    watching = True

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open":
            opened.append(str(arguments[0]))

    client = api.client()
    client.status()
    sys.addaudithook(note)
    client.status()
    watching = False
    assert [path for path in opened if "METADATA" in path] == []
