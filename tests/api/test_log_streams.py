"""Output followed through the master: every byte once, and an end when nothing can come any more."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.support.api import Api
from tests.support.documents import document, job, part
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_client.http.sse import ServerEvent, parse_events
from zoe_client.wire import ExecutionView
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.simulated import ServiceBehaviour

OUTPUT = bytes(range(256)) * 1000
FOLLOWERS = 100


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


@pytest.fixture
def many(postgres_url: str) -> Iterator[Api]:
    """One user may follow as much as she wants."""
    made = Api(postgres_url, api_streams_of_user_max=1000, api_streams_of_token_max=1000)
    yield made
    made.close()


def counted(api: Api) -> Counter[str]:
    """Count the requests for output that this API sends to its master from now on, by service."""
    questions: Counter[str] = Counter()
    ask = api.master_client.ask

    def count(kind: str, body: dict[str, Any] | None = None, *more: Any, **named: Any) -> dict[str, Any]:
        if kind == "logs" and body is not None:
            questions[body["service_id"]] += 1
        return ask(kind, body, *more, **named)

    api.app.state.services.output._ask = count
    return questions


def followed(api: Api, paths: list[str], then: Callable[[], object]) -> list[list[str]]:
    """The lines that a follower of each path gets until the end; `then` is called when all have got something."""

    async def follow(client: httpx.AsyncClient, path: str, began: asyncio.Semaphore) -> list[str]:
        lines: list[str] = []
        async with client.stream("GET", path) as response:
            async for line in response.aiter_lines():
                if not lines:
                    began.release()
                lines.append(line)
        return lines

    async def all_of_them() -> list[list[str]]:
        began = asyncio.Semaphore(0)
        headers = {"Authorization": f"Bearer {api.token}"}
        limits = httpx.Limits(max_connections=len(paths))
        async with httpx.AsyncClient(
            base_url=api.url, headers=headers, trust_env=False, timeout=60, limits=limits
        ) as client:
            tasks = [asyncio.create_task(follow(client, path, began)) for path in paths]
            for _ in paths:
                await began.acquire()
            await asyncio.to_thread(then)
            return await asyncio.gather(*tasks)

    return asyncio.run(all_of_them())


def test_a_hundred_followers_of_a_service_ask_as_much_as_one(many: Api) -> None:
    """The followed time bounds their requests: ten a second while it prints nothing."""
    master, client = many.start_master(), many.client()
    master.behaviours["main"] = ServiceBehaviour(output=OUTPUT)
    execution = client.submit(job())
    until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
    questions, began_s = counted(many), time.monotonic()

    def end() -> None:
        until(lambda: sum(questions.values()) > 10)
        client.cancel(execution.id)

    lines = followed(many, [stream_path(execution)] * FOLLOWERS, end)
    took_s = time.monotonic() - began_s
    for line in lines:
        assert data_of([event for event in parse_events(iter(line)) if event is not None]) == OUTPUT
        assert "event: end" in line
    pieces = len(OUTPUT) / 65536
    assert sum(questions.values()) <= 10 * took_s + pieces + 3


def test_followers_of_fifty_services_hold_up_no_other_question(many: Api) -> None:
    """The output of all of them comes from an engine that hangs."""
    master, client = many.start_master(), many.client()
    master.behaviours["main"] = ServiceBehaviour(output=b"hello")
    small = {"memory": "64MiB", "cores": 0.05}
    workers = part("worker", "sleep", "9", essential_count=49, total_count=49, resources=small)
    execution = client.submit(document(part(ends_application=True, resources=small), workers))
    bob = many.client(token=make_token(many.store, "bob", "blue"))
    mine = bob.submit(job())
    until(lambda: {bob.execution(mine.id).state, client.execution(execution.id).state} == {ExecutionState.RUNNING})
    let_go, logs = threading.Event(), master.backend.logs

    def hung(service_id: str, *more: Any) -> Any:
        if service_id.startswith(execution.id):
            let_go.wait(60)
        return logs(service_id, *more)

    vars(master.backend)["logs"] = hung
    paths = [stream_path(execution).replace(execution.services[0].id, service.id) for service in execution.services]
    assert len(set(paths)) == 50

    def others() -> None:
        assert base64.b64decode(bob.logs(mine.id, mine.services[0].id).data) == b"hello"
        assert next(bob.follow_logs(mine.id, mine.services[0].id)) == b"hello"
        assert bob.status().master is not None
        let_go.set()
        client.cancel(execution.id)

    followed(many, paths, others)
