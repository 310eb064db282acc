"""`map` of the SDK on a real stack: functions run in services, and results come back."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.support.stack import environment
from zoe_client import AsyncClient, CallFailed, Client, Conflict, TimedOut, ZoeError
from zoe_embedded.stack import Stack

SMALL: dict[str, Any] = {"memory": "64MiB", "cores": 0.1}


def test_a_function_runs_with_each_input_and_its_results_come_in_order(stack: Stack) -> None:
    offset = 10

    def shifted(number: int) -> tuple[int, str]:
        import os

        return number + offset, os.environ.get("ZOE_ARRAY_INDEX", "")

    with Client(stack.url, stack.token) as client, client.map(shifted, [3, 1, 2], at_once=2, **SMALL) as run:
        assert (len(run), [first for first, _ in run]) == (3, [13, 11, 12])
        assert "3 succeeded" in repr(run)
        assert run.array_id in run._repr_html_()
        directory = run._directory
        assert client.files.find(directory)
    with Client(stack.url, stack.token) as client, pytest.raises(ZoeError):
        client.files.find(directory)


def test_failed_call_has_its_traceback_and_the_others_continue(stack: Stack) -> None:
    def inverse(number: int) -> float:
        return 1 / number

    with Client(stack.url, stack.token) as client, client.map(inverse, [1, 0, 4], **SMALL) as run:
        assert (run.result(0), run.result(2)) == (1.0, 0.25)
        with pytest.raises(CallFailed, match="ZeroDivisionError") as failed:
            run.results()
        assert failed.value.index == 1
        assert [failed.index for failed in run.failed()] == [1]


def test_a_service_that_is_killed_and_a_result_that_is_late(stack: Stack) -> None:
    def dies(number: int) -> int:
        import os
        import signal
        import time

        if number:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
        return number

    with Client(stack.url, stack.token) as client, client.map(dies, [0, 1], **SMALL) as run:
        with pytest.raises(CallFailed, match="its service failed"):
            run.result(1)
        with pytest.raises(TimedOut):
            run.result(0, timeout_s=0.2)


def test_the_same_key_is_the_same_run(stack: Stack) -> None:
    with Client(stack.url, stack.token) as client:
        runs = [client.map(abs, [-1, -2], key="same", **SMALL) for _ in range(2)]
        assert runs[0].array_id == runs[1].array_id
        assert runs[1].results() == [1, 2]
        with pytest.raises(Conflict):
            client.map(abs, [-3, -4], key="same", **SMALL)
        assert [entry.name for entry in client.files.list("zoe-map")] == [runs[0]._directory.removeprefix("zoe-map/")]
        runs[0].close()


def test_no_inputs_are_no_results(stack: Stack) -> None:
    nothing: list[int] = []
    with Client(stack.url, stack.token) as client, client.map(abs, nothing) as run:
        assert run.results() == run.failed() == []
        assert repr(run) == "<map without inputs: nothing to do>"


def test_invalid_map_is_refused_before_anything_runs(stack: Stack) -> None:
    with Client(stack.url, stack.token) as client:
        with pytest.raises(ZoeError, match="input 1 cannot be pickled"):
            client.map(abs, [1, threading.Lock()])  # type: ignore[list-item]
        with pytest.raises(ZoeError, match="at_once"):
            client.map(abs, [1], at_once=0)
        with pytest.raises(ZoeError, match="a key of a map"):
            client.map(abs, [1], key="../other")
        assert not client.arrays.list(open_only=True).arrays


def test_it_is_awaited_too(stack: Stack) -> None:
    async def use() -> list[int]:
        client = AsyncClient(environment(stack)["ZOE_URL"], stack.token)
        async with client, await client.map(abs, [-1, -2], **SMALL) as run:
            return [number async for number in run]

    assert asyncio.run(use()) == [1, 2]
