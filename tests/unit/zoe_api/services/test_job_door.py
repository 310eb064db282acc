"""Excessive calls of jobs are stopped early, and wait for their refusal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.support.manual_clock import ManualClock
from zoe_api.services import job_door
from zoe_api.services.job_calls import CallRates
from zoe_api.services.job_door import JobDoor
from zoe_lib.tokens.job_tokens import JobToken, JobTokens


async def ask(app: JobDoor, authorization: str, content: bytes = b"") -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://zoe") as client:
        return await client.request("GET", "/", headers={"Authorization": authorization}, content=content)


def test_only_a_job_that_calls_too_often_is_held_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def page(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("page")

    monkeypatch.setattr(job_door, "sleep", sleep)
    tokens = JobTokens(tmp_path)
    app = JobDoor(Starlette(routes=[Route("/", page)]), tokens, CallRates(1, ManualClock()))
    first, second = (f"Bearer {tokens.text(JobToken(f'x{n}', 1, 'red', 'ada'))}" for n in (1, 2))

    def statuses(authorization: str, calls: int = 3) -> list[int]:
        return [asyncio.run(ask(app, authorization)).status_code for _ in range(calls)]

    assert statuses(first) == [200, 200, 429]
    assert slept == [1.0]
    assert statuses(second, 2) == [200, 200]
    assert statuses(f"{first}0") == statuses("Bearer zoe_a_b") == statuses("") == [200, 200, 200]
    refused = asyncio.run(ask(app, first.replace("Bearer", "bearer")))
    assert (refused.status_code, refused.headers["Retry-After"], refused.headers.get("Connection")) == (429, "1", None)
    assert asyncio.run(ask(app, first, b"x" * 100_000)).headers["Connection"] == "close"
    assert refused.json()["code"] == "job_calls_too_often"
