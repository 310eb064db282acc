"""The asynchronous client: the same calls, and streams that resume after breaks."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.api.test_client import OVER, event, last_ids
from tests.support.api import Api
from tests.support.documents import job
from tests.support.scripted import HEAD, ScriptedServer, answer, chunk
from zoe_client import AsyncClient, Client, NotFound, Refused, TimedOut, Unreachable
from zoe_client.asynchronous import AsyncFiles
from zoe_client.calls.administration import Administration
from zoe_client.calls.arrays import Arrays
from zoe_client.calls.asynchronous import (
    AsyncAdministration,
    AsyncArrays,
    AsyncSchedules,
    AsyncStoredApplications,
    AsyncWorkflows,
)
from zoe_client.calls.files import Files
from zoe_client.calls.schedules import Schedules, StoredApplications
from zoe_client.calls.workflows import Workflows
from zoe_client.vocabulary import ExecutionState
from zoe_master.backends.simulated import ServiceBehaviour

# What one of two clients has, and why.
ONLY_BLOCKING = {"terminal", "call", "do", "text", "answer", "read", "stream", "close"}


def public(owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, found in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_"):
            yield name, found


@pytest.mark.parametrize(
    ("blocking", "later"),
    [
        (Client, AsyncClient), (Administration, AsyncAdministration), (Arrays, AsyncArrays), (Files, AsyncFiles),
        (Workflows, AsyncWorkflows), (StoredApplications, AsyncStoredApplications), (Schedules, AsyncSchedules),
    ],
)  # fmt: skip
def test_both_clients_have_the_same_methods(blocking: type, later: type) -> None:
    found = dict(public(later))
    for name, method in public(blocking):
        if name in ONLY_BLOCKING:
            continue
        assert name in found, name
        assert list(inspect.signature(found[name]).parameters) == list(inspect.signature(method).parameters), name
        assert inspect.getdoc(found[name]), name


def test_an_execution_is_run_followed_and_read(api: Api) -> None:
    master = api.start_master()
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1, exit_code=3)

    async def use() -> None:
        async with AsyncClient(api.url, api.token, patience_s=5) as client:
            assert (await client.me()).user == "ada"
            runs = await asyncio.gather(*(client.run(job("true"), name=f"n{number}") for number in range(5)))
            ended = await asyncio.gather(*(run.wait(timeout_s=30) for run in runs))
            assert {handle.state for handle in ended} == {ExecutionState.FAILED}
            assert "exit code 3" in repr(ended[0])
            html = ended[0]._repr_html_()
            assert f'<a href="{api.url}/executions/{ended[0].id}">' in html
            kinds = [view.kind async for view, _ in client.follow(ended[0].id)]
            assert (kinds[0], kinds[-1]) == ("submitted", "ended")
            with pytest.raises(NotFound):
                await client.execution("x000000000000000")
            await client.set_secret("db", "value")
            assert [secret.name for secret in (await client.secrets()).secrets] == ["db"]
            assert await client.remove_secret("db") is None  # type: ignore[func-returns-value]
            array = await client.arrays.submit(job("true"), "0-2", hold=True)
            assert [index.index async for index in client.arrays.indices(array.id, brief=True)] == [0, 1, 2]
            await client.arrays.cancel(array.id)
            assert (await client.arrays.wait(array.id, timeout_s=30)).ended_at_s is not None
            held = await client.run(job("true"), hold=True)
            with pytest.raises(TimedOut):
                await held.wait(timeout_s=0.2)
            assert (await held.cancel()).state is ExecutionState.CANCELLED

    asyncio.run(use())


def test_notebook_display_escapes_markup(api: Api) -> None:
    with api.client() as client:
        handle = client.run(job("true"), name="<script>alert(1)</script>", hold=True)
        assert "<script>" not in handle._repr_html_()
        assert handle.cancel().state is ExecutionState.CANCELLED


def test_a_stream_that_breaks_is_taken_up_where_it_was() -> None:
    async def ids(url: str) -> list[int]:
        async with AsyncClient(url, "t", patience_s=10) as client:
            return [view.id async for view, _ in client.follow("x")]

    bad = [answer("502 Bad Gateway", b"<html>")]
    first = [HEAD, chunk(event(1) + event(2)), chunk(event(3)[:20])]
    with ScriptedServer(first, bad, [], [HEAD, chunk(event(3)), OVER]) as server:
        assert asyncio.run(ids(server.url)) == [1, 2, 3]
        assert last_ids(server)[:2] == [None, "2"]
    with ScriptedServer([HEAD, chunk(event(1))], [answer("401 Unauthorized")]) as server, pytest.raises(Refused):
        asyncio.run(ids(server.url))


def test_reads_are_repeated_while_the_server_is_away() -> None:
    bad = [answer("502 Bad Gateway", b"<html>")]

    async def status(url: str, patience_s: float) -> None:
        async with AsyncClient(url, "t", patience_s=patience_s) as client:
            await client.secrets()

    good = [answer("200 OK", b'{"secrets": []}')]
    with ScriptedServer(bad, [], good) as server:
        asyncio.run(status(server.url, 10.0))
    with ScriptedServer(bad) as server, pytest.raises(Unreachable):
        asyncio.run(status(server.url, 0.0))
