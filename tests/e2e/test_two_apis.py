"""Two API processes behind a balancer, a real master, a real database: one is killed, and no client notices."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.support.balancer import Balancer
from tests.support.documents import Document, job
from tests.support.installation import Installation, free_port
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState

LINES = 400


@dataclass
class Pair:
    """Both APIs; `kill` ends the one that serves the only long connection."""

    installation: Installation
    balancer: Balancer
    apis: dict[int, subprocess.Popen[bytes]]

    def client(self) -> Client:
        return self.installation.client(self.balancer.url)

    def kill_the_one_with_a_stream(self) -> int:
        port = until(self._port_with_a_stream)
        self.kill(port)
        return port

    def kill(self, port: int) -> None:
        self.apis[port].send_signal(signal.SIGKILL)
        self.apis[port].wait(10)

    def start(self, port: int) -> None:
        self.apis[port] = self.installation.start_api(port)
        until(lambda: answers(port))

    def _port_with_a_stream(self) -> int | None:
        for port, process in self.apis.items():
            if process.poll() is None:
                text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
                if "zoe_api_streams 1.0" in text:
                    return port
        return None


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).text == "ok"
    except httpx.TransportError:
        return False


@pytest.fixture
def pair(installation: Installation) -> Iterator[Pair]:
    ports = [free_port(), free_port()]
    installation.start_master()
    apis = {port: installation.start_api(port) for port in ports}
    for port in ports:
        until(lambda port=port: answers(port), lambda: installation.log(f"api-{ports[0]}"))  # type: ignore[misc]
    with Balancer([("127.0.0.1", port) for port in ports]) as balancer:
        yield Pair(installation, balancer, apis)
        for process in apis.values():
            process.terminate()


def printing(lines: int, pause_s: float, stop_at: int) -> Document:
    """Stops before a line until a file `go` is there, however slow the machine."""
    stop = f"[ $i -ne {stop_at} ] || until [ -e {{workspace}}/go ]; do sleep 0.05; done"
    script = f"i=0; while [ $i -lt {lines} ]; do {stop}; echo line $i; i=$((i+1)); sleep {pause_s}; done"
    return job("sh", "-c", f"echo main >> {{workspace}}/{{execution}}; {script}")


def test_both_serve(pair: Pair) -> None:
    for _ in range(6):
        with pair.client() as client:
            client.me()
    assert min(pair.balancer.connections.values()) == 3


def test_killed_while_events_and_output_are_followed(pair: Pair) -> None:
    """Each is killed once, and started again, while a client follows: every event and byte comes once."""
    with pair.client() as client:
        execution = client.submit(printing(LINES, 0.01, stop_at=200))
        output: list[bytes] = []

        def follow_output() -> None:
            with pair.client() as other:
                output.extend(other.follow_logs(execution.id, execution.services[0].id))

        reader = threading.Thread(target=follow_output)
        reader.start()
        until(lambda: b"line 20\n" in b"".join(output))
        pair.start(pair.kill_the_one_with_a_stream())
        until(lambda: b"line 150\n" in b"".join(output))
        pair.kill_the_one_with_a_stream()
        (pair.installation.workspace / "go").touch()
        events = [view for view, _ in client.follow(execution.id)]
        reader.join(60)
        assert not reader.is_alive()
        assert b"".join(output).decode() == "".join(f"line {n}\n" for n in range(LINES))
        assert [e.id for e in events] == [e.id for e in client.events(execution.id).events]
        assert client.execution(execution.id).state is ExecutionState.SUCCEEDED
    assert pair.installation.ran(execution.id) == ["main"]


def test_killed_while_events_are_followed(pair: Pair) -> None:
    with pair.client() as client:
        execution = client.submit(job("sleep", "600"))
        events: list[int] = []

        def follow() -> None:
            with pair.client() as other:
                events.extend(view.id for view, _ in other.follow(execution.id))

        reader = threading.Thread(target=follow)
        reader.start()
        until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
        pair.start(pair.kill_the_one_with_a_stream())
        client.cancel(execution.id)
        reader.join(60)
        assert events == [e.id for e in client.events(execution.id).events]


def test_killed_while_many_submit(pair: Pair) -> None:
    """Every acknowledged submission exists once, and retries make no second one."""
    acknowledged: list[str] = []
    names = [f"number {n}" for n in range(60)]
    todo = iter(names)
    lock = threading.Lock()

    def submit() -> None:
        with pair.client() as client:
            while True:
                with lock:
                    name = next(todo, None)
                if name is None:
                    return
                execution = client.submit(job("true"), name=name)
                with lock:
                    acknowledged.append(execution.id)

    threads = [threading.Thread(target=submit) for _ in range(6)]
    for thread in threads:
        thread.start()
    for enough in (10, 30):
        until(lambda enough=enough: len(acknowledged) > enough)  # type: ignore[misc]
        port = next(iter(pair.apis)) if enough == 10 else list(pair.apis)[1]
        pair.kill(port)
        pair.start(port)
    for thread in threads:
        thread.join(60)
    with pair.client() as client:
        page = client.executions(limit=500).executions
        assert sorted(e.name for e in page) == sorted(names)
        assert sorted(e.id for e in page) == sorted(acknowledged)
        for execution_id in acknowledged:
            assert client.wait(execution_id, 120).state is ExecutionState.SUCCEEDED
