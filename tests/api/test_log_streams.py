"""Output followed through the master: every byte once, and an end when nothing can come any more."""

from __future__ import annotations

import base64
import json
import threading

from tests.support.api import Api
from tests.support.documents import job
from tests.support.waiting import until
from zoe_lib.domain.execution import ExecutionState
from zoe_lib.sdk.sse import ServerEvent, parse_events
from zoe_lib.wire import ExecutionView
from zoe_master.backends.simulated import ServiceBehaviour

OUTPUT = bytes(range(256)) * 1000


def stream_path(execution: ExecutionView) -> str:
    return f"/api/v1/executions/{execution.id}/services/{execution.services[0].id}/logs/stream"


def events_of(api: Api, execution: ExecutionView, last_id: int | None = None) -> list[ServerEvent]:
    headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
    with api.http().stream("GET", stream_path(execution), headers=headers) as response:
        return [event for event in parse_events(response.iter_lines()) if event is not None]


def data_of(events: list[ServerEvent]) -> bytes:
    return b"".join(base64.b64decode(json.loads(e.data)["data"]) for e in events if e.kind == "log")


def test_all_of_it_comes_and_then_the_end(api: Api) -> None:
    master, client = api.start_master(), api.client()
    master.behaviours["main"] = ServiceBehaviour(run_s=0.3, output=OUTPUT)
    execution = client.submit(job())
    assert b"".join(client.follow_logs(execution.id, execution.services[0].id)) == OUTPUT
    events = events_of(api, execution)
    assert data_of(events) == OUTPUT
    assert events[-1].kind == "end"
    assert int(events[-1].id) == len(OUTPUT)


def test_it_is_taken_up_at_the_byte(api: Api) -> None:
    master, client = api.start_master(), api.client()
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1, output=OUTPUT)
    execution = client.submit(job())
    client.wait(execution.id, 30)
    assert data_of(events_of(api, execution, last_id=1000)) == OUTPUT[1000:]
    assert [event.kind for event in events_of(api, execution, last_id=len(OUTPUT))] == ["end"]


def test_of_a_service_that_is_not_started_yet_it_waits(api: Api) -> None:
    client = api.client()
    execution = client.submit(job())
    got: list[ServerEvent] = []
    reader = threading.Thread(target=lambda: got.extend(events_of(api, execution)))
    reader.start()
    master = api.start_master()
    master.behaviours["main"] = ServiceBehaviour(run_s=0.2, output=b"hello")
    reader.join(60)
    assert data_of(got) == b"hello"
    assert got[-1].kind == "end"
    assert {event.kind for event in got} <= {"waiting", "log", "end"}


def test_of_a_service_that_never_started_it_ends(api: Api) -> None:
    api.start_master()
    client = api.client()
    client.submit(job(name="blocker"))
    execution = client.submit(job())
    client.cancel(execution.id)
    until(lambda: client.execution(execution.id).state is ExecutionState.CANCELLED)
    api.stop_master()
    api.start_master()
    assert [event.kind for event in events_of(api, execution)] == ["waiting", "end"]


def test_while_it_is_followed_a_cancelled_one_ends(api: Api) -> None:
    api.start_master()
    client = api.client()
    execution = client.submit(job())
    until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.extend(client.follow_logs(execution.id, execution.services[0].id)))
    reader.start()
    api.client().cancel(execution.id)
    reader.join(60)
    assert not reader.is_alive()


def test_over_a_master_that_goes_and_comes_back(api: Api) -> None:
    api.start_master()
    client = api.client()
    execution = client.submit(job())
    until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
    api.stop_master()
    kinds: list[str] = []
    with api.http().stream("GET", stream_path(execution)) as response:
        for event in parse_events(response.iter_lines()):
            if event is not None:
                kinds.append(event.kind)
                if kinds == ["waiting"]:
                    api.start_master()
                    client.cancel(execution.id)
    assert kinds[0] == "waiting"
    assert kinds[-1] == "end"


def test_a_piece_of_what_did_not_start_is_empty(api: Api) -> None:
    api.start_master()
    client = api.client()
    api.stop_master()
    execution = client.submit(job(), priority=0)
    service = execution.services[0].id
    api.start_master(nodes=())
    until(lambda: client.execution(execution.id).state is ExecutionState.QUEUED)
    chunk = client.logs(execution.id, service)
    assert (chunk.data, chunk.complete) == ("", False)
