"""Master and API of the wheel, started as operations.md says, run something of the catalogue and end when asked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.package.conftest import Installed
from tests.support.postgres import PostgresServer, make_home
from zoe_embedded.home import Home

DEADLINE_S = 60.0


@pytest.fixture
def home() -> Iterator[Home]:
    directory = make_home()
    yield Home(directory, by_root=os.geteuid() == 0).create()
    shutil.rmtree(directory)


@contextmanager
def running(installed: Installed, program: str, environment: dict[str, str], log: Path) -> Iterator[None]:
    """The program as a process, which must end by itself, or by the signal, when it is asked to."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [installed.path(program)],
            env={**installed.environment, **environment},
            cwd=installed.directory,
            stdout=output,
            stderr=output,
        )
        try:
            yield
            process.send_signal(signal.SIGTERM)
            assert process.wait(DEADLINE_S) in (0, -signal.SIGTERM), log.read_text()
        finally:
            process.kill()
            process.wait()


def wait_until_ready(url: str) -> None:
    pause = threading.Event()
    give_up_s = time.monotonic() + DEADLINE_S
    parts: dict[str, str] = {}
    while parts != {"database": "ok", "master": "ok"}:
        assert time.monotonic() < give_up_s, f"not ready: {parts}"
        try:
            parts = httpx.get(f"{url}/readyz", trust_env=False, timeout=DEADLINE_S).json()
        except httpx.TransportError:
            pause.wait(0.05)


def test_from_an_empty_database_to_a_result(installed: Installed, postgres_server: PostgresServer, home: Home) -> None:
    database = postgres_server.create_empty_database()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    images = {"zoe/tiny": {"path": ["/usr/bin", "/bin"]}}
    environment = {
        "ZOE_DATABASE_URL": database,
        "ZOE_KEYS_DIR": str(home.secrets / "keys"),
        "ZOE_API_PORT": str(port),
        "ZOE_MASTER_ENDPOINT": f"ipc://{home.state}/master.sock",
        "ZOE_LOCAL_STATE_DIR": str(home.state / "local"),
        "ZOE_LOCAL_SCRATCH_DIR": str(home.scratch),
        "ZOE_LOCAL_WORKSPACES_DIR": str(home.workspaces),
        "ZOE_LOCAL_VOLUMES_DIR": str(home.workspaces / ".volumes"),
        "ZOE_LOCAL_IMAGES": json.dumps(images),
    }
    token = installed.run("zoe-setup", ZOE_DATABASE_URL=database).strip()
    client = {"ZOE_URL": f"http://127.0.0.1:{port}", "ZOE_TOKEN": token}
    with ExitStack() as processes:
        for program in ("zoe-master", "zoe-api"):
            processes.enter_context(running(installed, program, environment, home.logs / f"{program}.log"))
        wait_until_ready(client["ZOE_URL"])
        batch = installed.run("zoe", "catalogue", "batch", **client)
        assert installed.run("zoe", "run", "-", "--follow", stdin=batch, **client) == "hello from 127.0.0.1\n"
    postgres_server.drop_database(database)
