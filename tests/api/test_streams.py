"""The journal as a stream: no event missed, none twice, and nothing held when the client goes."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.api import Api
from tests.support.documents import job
from tests.support.people import make_token
from tests.support.postgres import PostgresServer, connect
from tests.support.waiting import until
from zoe_api.access.views import event_view
from zoe_api.executions import events
from zoe_api.http import metrics
from zoe_api.services import journal_news, stream
from zoe_client.http.sse import ServerEvent, parse_events
from zoe_client.wire import EventView
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.people import Principal, Session
from zoe_lib.store.sql.journal.journal import JOURNAL_LOCK
from zoe_lib.store.values import JournalEntry
from zoe_lib.submission.ids import hash_of

SECRET = "s" * 43
INSERT = """
    INSERT INTO journal (execution_id, tenant, version, kind, at_s, cause_id, data)
    VALUES (NULL, 'red', NULL, %s, 0, 'test', '{}') RETURNING id
"""


@contextmanager
def following(http: httpx.Client, last_id: int | None = None, **parameters: Any) -> Iterator[Iterator[ServerEvent]]:
    headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
    with http.stream("GET", "/api/v1/events", params=parameters, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield (event for event in parse_events(response.iter_lines()) if event is not None)


def take(events: Iterator[ServerEvent], number: int) -> list[ServerEvent]:
    return list(itertools.islice(events, number))


def comes_to_an_end(lines: Iterator[str]) -> bool:
    """Before so many signs of life that it surely goes on."""
    return len(list(itertools.islice(lines, 400))) < 400


def test_events_come_as_they_happen(api: Api, http: httpx.Client) -> None:
    with following(http) as events:
        execution = api.client().submit(job())
        event = next(events)
    assert event.kind == "submitted"
    assert json.loads(event.data)["execution_id"] == execution.id
    assert int(event.id) == json.loads(event.data)["id"]


def test_a_stream_is_taken_up_after_the_last_event(api: Api, http: httpx.Client) -> None:
    made = [api.client().submit(job()).id for _ in range(5)]
    with following(http, after=0) as events:
        first = take(events, 2)
    with following(http, last_id=int(first[-1].id), after=0) as events:
        rest = take(events, 3)
    assert [json.loads(e.data)["execution_id"] for e in first + rest] == made


@pytest.mark.parametrize("given", [{"last_id": 10**9}, {"after": 10**9}])
def test_an_id_of_a_journal_that_was_restored_means_from_now_on(
    api: Api, http: httpx.Client, given: dict[str, int]
) -> None:
    api.client().submit(job())
    with following(http, **given) as events:
        execution = api.client().submit(job())
        assert json.loads(next(events).data)["execution_id"] == execution.id


def test_a_tenant_hears_of_its_own_only(api: Api, http: httpx.Client) -> None:
    bob = api.client(make_token(api.store, "bob", "blue"))
    bob.submit(job())
    mine = api.client().submit(job())
    with following(http, after=0) as events:
        assert json.loads(next(events).data)["execution_id"] == mine.id
    with following(api.http(api.admin), after=0, all_tenants=True) as events:
        assert len(take(events, 2)) == 2


def test_an_event_is_made_once_for_all_streams(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for members and once for operators, who see more; each stream still gets its own events."""
    made: list[tuple[int, bool]] = []

    def counted(entry: JournalEntry, principal: Principal) -> EventView:
        made.append((entry.id, principal.operator))
        return event_view(entry, principal)

    monkeypatch.setattr(events, "event_view", counted)
    blue = api.client(make_token(api.store, "bob", "blue"))
    with ExitStack() as open_streams:
        members = [open_streams.enter_context(following(api.http())) for _ in range(8)]
        operators = [open_streams.enter_context(following(api.http(api.admin), all_tenants=True)) for _ in range(4)]
        until(lambda: api.app.state.services.news.followers == 12)
        until(lambda: api.app.state.services.news.recent.to_id is not None)
        others = blue.submit(job()).id
        own = [api.client().submit(job()).id for _ in range(3)]
        for stream_of_member in members:
            assert [json.loads(e.data)["execution_id"] for e in take(stream_of_member, 3)] == own
        for stream_of_operator in operators:
            assert [json.loads(e.data)["execution_id"] for e in take(stream_of_operator, 4)] == [others, *own]
    assert len(made) == len(set(made)) == 3 + 4


def test_a_slow_writer_beside_a_fast_one_loses_no_event(api: Api, http: httpx.Client, postgres_url: str) -> None:
    """Two real transactions: the first has an id but does not commit; the second must not be seen before it."""
    seen: list[ServerEvent] = []
    with closing(connect(postgres_url)) as slow, following(http, after=0) as events:
        slow.autocommit = False
        reader = threading.Thread(target=lambda: seen.extend(take(events, 2)))
        reader.start()
        with slow.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (JOURNAL_LOCK,))
            cursor.execute(INSERT, ("slow",))
            row = cursor.fetchone()
        fast = threading.Thread(target=api.client().submit, args=(job(),))
        fast.start()
        until(lambda: waits_for_the_journal(postgres_url))
        assert not seen
        slow.commit()
        fast.join()
        reader.join()
    assert [event.kind for event in seen] == ["slow", "submitted"]
    assert row is not None
    assert [int(event.id) for event in seen] == sorted(int(event.id) for event in seen)
    assert int(seen[0].id) == row[0]


def waits_for_the_journal(url: str) -> bool:
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return cursor.fetchone() == (1,)


def test_many_writers_and_readers_that_come_and_go(api: Api) -> None:
    """Readers break off and come back all the time while four threads write; each sees every event once, in order."""
    total = 120
    writers = [
        threading.Thread(target=lambda: [api.client().submit(job()) for _ in range(total // 4)]) for _ in range(4)
    ]
    results: list[list[int]] = [[], [], []]

    def read(number: int) -> None:
        http, seen = api.http(), results[number]
        while len(seen) < total:
            with following(http, last_id=seen[-1] if seen else None, after=0) as events:
                seen += [int(event.id) for event in take(events, min(7 + number, total - len(seen)))]

    readers = [threading.Thread(target=read, args=(number,)) for number in range(3)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in (*writers, *readers):
        thread.join()
    expected = [entry.id for entry in api.store.journal(0, 1000)]
    assert len(expected) == total
    assert results == [expected] * 3


def test_the_stream_of_an_execution_ends_with_it(api: Api, http: httpx.Client) -> None:
    client = api.client()
    execution = client.submit(job())
    with following(http, after=0, execution_id=execution.id) as events:
        client.cancel(execution.id)
        assert [event.kind for event in events] == ["submitted", "refused", "end"]


def test_the_stream_of_an_ended_execution_ends(api: Api, http: httpx.Client) -> None:
    client = api.client()
    execution = client.submit(job())
    client.cancel(execution.id)
    last = api.store.last_journal_id()
    with following(http, last_id=last, execution_id=execution.id) as events:
        assert [event.kind for event in events] == ["end"]
    with following(http, execution_id=execution.id) as events:
        assert [event.kind for event in events] == ["end"]
    with following(http, after=0, execution_id=execution.id) as events:
        assert [event.kind for event in events] == ["submitted", "refused", "end"]


def test_a_quiet_stream_gives_signs_of_life(api: Api, http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.1)
    monkeypatch.setattr(journal_news, "TICK_S", 0.05)
    with http.stream("GET", "/api/v1/events") as response:
        lines = (line for line in response.iter_lines() if line)
        assert list(itertools.islice(lines, 3)) == [": open", ": still here", ": still here"]


@pytest.mark.parametrize("by", ["token", "session"])
@pytest.mark.parametrize("of", ["events", "logs"])
def test_a_stream_ends_with_what_opened_it(api: Api, monkeypatch: pytest.MonkeyPatch, by: str, of: str) -> None:
    monkeypatch.setattr(stream, "CHECK_S", 0.0)
    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.05)
    monkeypatch.setattr(journal_news, "TICK_S", 0.05)
    master = api.start_master()
    client = api.client()
    submitted = client.submit(job("sleep", "600"))
    until(lambda: client.execution(submitted.id).state is ExecutionState.RUNNING)
    store, http = api.store, api.http()
    if by == "session":
        now_s = time.time()
        store.accounts.add_session(Session(hash_of(SECRET), "ada", "red", now_s, now_s + 600, hash_of("a proof")))
        http = api.http(None)
        http.headers["Cookie"] = f"zoe-session={SECRET}"
    path = "events" if of == "events" else f"executions/{submitted.id}/services/{submitted.services[0].id}/logs/stream"
    with http.stream("GET", f"/api/v1/{path}") as response:
        assert response.status_code == 200
        lines = response.iter_lines()
        assert next(lines) == ": open"
        if by == "session":
            store.accounts.end_session(hash_of(SECRET))
        else:
            store.accounts.revoke_token(api.token.split("_")[1])
        assert comes_to_an_end(lines)
    assert http.get("/api/v1/me").status_code == 401
    assert master.failure is None


def test_a_stream_of_all_tenants_ends_with_the_role_that_allowed_it(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "CHECK_S", 0.0)
    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.05)
    monkeypatch.setattr(journal_news, "TICK_S", 0.05)
    http = api.http(make_token(api.store, "olga", "red", "operator", ("read", "operate")))
    with http.stream("GET", "/api/v1/events", params={"all_tenants": True}) as response:
        lines = response.iter_lines()
        assert next(lines) == ": open"
        api.store.accounts.ensure_member("olga", "red", "user")
        assert comes_to_an_end(lines)
    assert http.get("/api/v1/me").status_code == 200


def test_the_client_that_goes_frees_what_it_held(api: Api) -> None:
    news = api.app.state.services.news
    http = api.http()
    for _ in range(20):
        with following(http, after=0):
            until(lambda: news.followers == 1)
    until(lambda: news.followers == 0)
    assert metrics.STREAMS._value.get() == 0


def test_a_reader_that_does_not_read_holds_up_nobody(api: Api, postgres_url: str) -> None:
    """Its stream is read from the journal no further than the sockets take; all comes when it reads on."""
    number, filler = 6000, "x" * 10_000  # sockets take up to 30 MB
    with closing(connect(postgres_url)) as connection, connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO journal (execution_id, tenant, version, kind, at_s, cause_id, data)
            SELECT NULL, 'red', NULL, 'fact', 0, 'test', jsonb_build_object('filler', %s)
            FROM generate_series(1, %s)""",
            (filler, number),
        )
    reads: list[int] = []
    journal = api.store.journal

    def counted(after_id: int, *more: Any, **named: Any) -> Any:
        reads.append(after_id)
        return journal(after_id, *more, **named)

    api.store.journal = counted  # type: ignore[method-assign]
    address = urlsplit(api.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        request = f"GET /api/v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.token}\r\n\r\n"
        line.sendall(request.encode())
        until(lambda: reads)
        for _ in range(5):
            assert api.http().get("/api/v1/executions").status_code == 200
        assert len(reads) < number // 500
        received = b""
        while b'"id":%d,' % number not in received[-2_000_000:]:
            piece = line.recv(1 << 20)
            assert piece
            received += piece
    ids = [int(line[4:]) for line in received.split(b"\n") if line.startswith(b"id: ")]
    assert ids == list(range(1, number + 1))


def test_a_stream_outlives_the_database(api: Api, http: httpx.Client, postgres_server: PostgresServer) -> None:
    first = api.client().submit(job())
    with following(http, after=0) as events:
        assert json.loads(next(events).data)["execution_id"] == first.id
        postgres_server.embedded.stop()
        assert api.http().get("/readyz").status_code == 503
        postgres_server.embedded.start()
        second = api.client(patience_s=30).submit(job())
        assert json.loads(next(events).data)["execution_id"] == second.id
