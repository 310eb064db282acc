"""The API as a process: it answers, and ends in order when it is told to."""

from __future__ import annotations

import signal

import httpx
import pytest

from tests.support.installation import Installation, free_port
from tests.support.waiting import until


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).text == "ok"
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(installation: Installation, number: signal.Signals) -> None:
    port = free_port()
    process = installation.start_api(port)
    until(lambda: answers(port), lambda: installation.log(f"api-{port}"))
    process.send_signal(number)
    assert process.wait(30) == 0
