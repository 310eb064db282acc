"""The master is lost together with another part: both come back, and then an admin goes on with everything."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.after_event import AdminsDay
from tests.support.documents import job, sized
from tests.support.installation import Installation, Program, free_port
from tests.support.postgres import PostgresServer
from tests.support.storage_controller import TOKEN, served_controller
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark
from zoe_lib.domain.values.reasons import ReasonCode

E = ExecutionState
NOTE = "echo main-{index} >> {workspace}/{execution}"
ENDS = job("sh", "-c", NOTE)
WAITS = job("sh", "-c", f"{NOTE}; until test -e {{workspace}}/go; do sleep 0.1; done")
READS = {"storage": {"bandwidth": {"read": "10MB/s", "guarantee": "required"}}}
SAID_WITHIN_S = 20.0
"""How soon users see a loss, on a busy machine."""


class Stack:
    """A master and an API, which runs on, and Ann's day before the losses."""

    def __init__(self, installation: Installation) -> None:
        self.installation, self.port = installation, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.master: Program = installation.start_master()
        installation.start_api(self.port)
        self.client = installation.client(self.url)
        self.day = AdminsDay(installation.store, self.client, self.url)

    def run(self, document: Any) -> str:
        """Submit, and return the id when it runs."""
        one = self.client.submit(document).id
        self.until_state(one, E.RUNNING)
        return one

    def until_state(self, one: str, state: ExecutionState) -> None:
        until(lambda: self.client.execution(one).state is state, lambda: self.client.execution(one))

    def restart_master(self) -> None:
        leading = self.installation.log("master").count('"event": "leading"')
        self.master = self.installation.start_master()
        self.installation.until_leading(leading + 1)

    def check(self, back_s: float, *ids: str) -> None:
        """Let them end, each having run once; then do everything an admin does. back_s: since when nothing is away."""
        assert self.client.wait(self.client.submit(ENDS).id, 60).state is E.SUCCEEDED
        print(f"a new execution succeeded {time.monotonic() - back_s:.1f} s after the return")
        (self.installation.workspace / "go").touch()
        for one in ids:
            assert self.client.wait(one, 60).state is E.SUCCEEDED
            assert self.installation.ran(one) == ["main-0"]
        self.day.check(self.installation.store, self.client, self.url)


@contextmanager
def stack_of(installation: Installation) -> Iterator[Stack]:
    stack = Stack(installation)
    with stack.client:
        yield stack


def test_master_and_database_at_once(installation: Installation, postgres_server: PostgresServer) -> None:
    with stack_of(installation) as stack:
        running, waiting = stack.run(WAITS), stack.client.submit(sized(64, "true")).id
        with both_away(stack, postgres_server):
            began_s = time.monotonic()
            assert refused(stack) == (503, "database_unavailable")
            said_s = time.monotonic() - began_s
            assert said_s < SAID_WITHIN_S
            print(f"users were refused after {said_s:.1f} s")
            stack.master = installation.start_master()
            until(lambda: "cannot reach the database" in installation.log("master"), lambda: installation.log("master"))
        back_s = time.monotonic()
        installation.until_leading(2)
        assert stack.client.execution(running).attempt == 1
        stack.until_state(waiting, E.QUEUED)
        stack.client.cancel(waiting)
        stack.check(back_s, running)


@contextmanager
def both_away(stack: Stack, server: PostgresServer) -> Iterator[None]:
    stack.master.kill()
    server.kill()
    try:
        yield
    finally:
        server.embedded.start()


def refused(stack: Stack) -> tuple[int, str]:
    token = {"Authorization": f"Bearer {stack.installation.token}"}
    answer = httpx.get(f"{stack.url}/api/v1/executions", headers=token, trust_env=False, timeout=60)
    return answer.status_code, answer.json()["code"]


def test_master_and_storage_controller_at_once(postgres_url: str, tmp_path: Path) -> None:
    """The master comes back first: what has its guarantee goes on, and others wait and name the controller."""
    (tmp_path / "token").write_text(TOKEN)
    port = free_port()
    asked = {"storage_token_file": str(tmp_path / "token"), "storage_interval_s": 0.5}
    installation = Installation(postgres_url, storage_url=f"http://127.0.0.1:{port}", **asked)
    try:
        with stack_of(installation) as stack:
            with served_controller(postgres_url, port=port):
                running = stack.run({**WAITS, **READS})
                stack.master.kill()
            stack.restart_master()
            waiting = stack.client.submit({**ENDS, **READS}).id
            until(lambda: reason(stack, waiting) == ReasonCode.STORAGE_BANDWIDTH, lambda: reason(stack, waiting))
            free = stack.client.submit(ENDS).id
            assert stack.client.wait(free, 60).state is E.SUCCEEDED
            with served_controller(postgres_url, port=port) as controller:
                back_s = time.monotonic()
                assert stack.client.wait(waiting, 60).state is E.SUCCEEDED
                marks = stack.client.execution(running).marks
                assert (Mark.STORAGE_GRANTED in marks, Mark.STORAGE_WITHDRAWN in marks) == (True, False)
                stack.check(back_s, running, waiting, free)
                until(lambda: not controller.ledger.guarantees_by_tenant())
    finally:
        installation.close()


def reason(stack: Stack, one: str) -> str | None:
    found = stack.client.execution(one).reason
    return None if found is None else found.code


@pytest.fixture
def small_disk(installation: Installation) -> Path:
    """The state of the local back-end on a file system of 1 MiB."""
    state = installation.base / "state"
    state.mkdir(mode=0o700)
    words = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(state)]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("privilege: no small file system can be mounted")
    installation.exits.callback(subprocess.run, ["umount", "--lazy", str(state)], check=True)
    return state


def fill_up(directory: Path) -> None:
    with (directory / "filler").open("ab", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 1024)
        except OSError:
            return


def test_master_and_disk_at_once(installation: Installation, small_disk: Path) -> None:
    with stack_of(installation) as stack:
        running = stack.run(WAITS)
        stack.master.kill()
        fill_up(small_disk)
        stack.restart_master()
        assert stack.client.execution(running).attempt == 1
        refused = stack.client.wait(stack.client.submit(ENDS).id, 60)
        assert (refused.state, refused.cause) == (E.FAILED, Cause.DISK_FULL)
        (small_disk / "filler").unlink()
        stack.check(time.monotonic(), running)
