"""One thread handles a request: dependencies, blocking calls, and forbidden waits."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import httpx
import pytest
from fastapi import Depends, FastAPI
from pydantic import BaseModel

from zoe_api.http.problems.problems import install
from zoe_api.http.request_context import PREFIX
from zoe_api.http.routing import CLIENT_LEFT, api_router, in_a_thread


class Body(BaseModel):
    number: int


async def the_client() -> str:
    return await in_a_thread(lambda: threading.current_thread().name)


async def of_the_loop() -> None:
    await asyncio.sleep(0)


def asked(path: str, **request: Any) -> httpx.Response:
    router = api_router("/part", tag="part")

    @router.post("/plain")
    def plain(body: Body, client: Annotated[str, Depends(the_client)]) -> dict[str, Any]:
        return {"client": client, "here": threading.current_thread().name, "number": body.number}

    @router.post("/coroutine")
    async def coroutine(body: Body, client: Annotated[str, Depends(the_client)]) -> dict[str, Any]:
        return {"client": client, "here": threading.current_thread().name, "number": body.number}

    @router.get("/waits")
    def waits(_: Annotated[None, Depends(of_the_loop)]) -> None:
        return None

    async def exchange() -> httpx.Response:
        app = FastAPI(routes=router.routes)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://zoe") as client:
            return await client.request("GET" if path == "waits" else "POST", f"{PREFIX}/part/{path}", **request)

    return asyncio.run(exchange())


def test_a_function_and_what_it_depends_on_share_a_thread() -> None:
    answer = asked("plain", json={"number": 7}).json()
    assert answer["number"] == 7
    assert answer["here"] == answer["client"] != threading.current_thread().name


def test_a_coroutine_stays_in_the_event_loop_and_what_waits_does_not() -> None:
    answer = asked("coroutine", json={"number": 7}).json()
    assert answer["here"] == threading.current_thread().name != answer["client"]


def test_a_body_is_checked_as_ever() -> None:
    refused = asked("plain", json={"number": "seven"})
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "number"]


def test_wait_for_the_event_loop_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="waits for the event loop"):
        asked("waits")


def cancelled(query: str = "", **request: Any) -> tuple[int, Any]:
    """Call a route with one query parameter and without a body."""
    router = api_router("/part", tag="part")

    @router.post("/cancel")
    def cancel(only: str = "all") -> str:
        return only

    app = FastAPI()
    app.include_router(router)
    install(app)

    async def ask() -> tuple[int, Any]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://api") as http:
            answer = await http.post(f"{PREFIX}/part/cancel{query}", **request)
            return answer.status_code, answer.json()

    return asyncio.run(ask())


@pytest.mark.parametrize("given", [{}, {"json": {}}, {"json": None}, {"content": b"what", "headers": {"x": "y"}}])
def test_a_change_takes_an_empty_body_where_it_needs_none(given: dict[str, Any]) -> None:
    assert cancelled("?only=2", **given) == (200, "2")


@pytest.mark.parametrize(
    ("query", "given", "pointer"),
    [("?onyl=2", {}, "/query/onyl"), ("?only=2&x=1", {}, "/query/x"), ("", {"json": {"only": "2"}}, "/body")],
)
def test_a_change_with_what_it_does_not_read_is_refused(query: str, given: dict[str, Any], pointer: str) -> None:
    """It would change more than the client meant."""
    status, told = cancelled(query, **given)
    assert (status, told["code"]) == (422, "invalid_request")
    assert [entry["pointer"] for entry in told["errors"]] == [pointer]


@pytest.mark.parametrize("takes_body", [True, False], ids=["reads its body", "takes none"])
def test_a_request_that_its_client_breaks_off_is_no_error(takes_body: bool) -> None:
    router = api_router("/part", tag="part")

    @router.post("/body")
    def with_body(body: Body) -> int:
        return body.number

    @router.post("/none")
    def without_body() -> None:
        return None

    headers = [(b"content-type", b"application/json"), (b"content-length", b"10")]
    path = f"{PREFIX}/part/{'body' if takes_body else 'none'}"
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b"", "app": None}
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(FastAPI(routes=router.routes)(scope, receive, send))
    assert sent[0]["status"] == CLIENT_LEFT
