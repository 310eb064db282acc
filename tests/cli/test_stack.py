"""The command line against the whole of Zoe: nothing faked, and one call of the installed command as a process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.support.ending import cancel_all
from tests.support.stack import zoe as process
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.stack import Stack

BATCH = str(Path(__file__).parents[2] / "app_descriptions" / "batch.json")


@pytest.fixture(autouse=True)
def nothing_left(stack: Stack) -> Iterator[None]:
    """Cancel running executions after a test, so that the next one finds the stack empty."""
    yield
    with Client(stack.url, stack.token) as client:
        cancel_all(client)


def command(text: str) -> list[str]:
    return ["--set", f"main.command={json.dumps(['sh', '-c', text])}"]


def test_run_and_follow(stack: Stack) -> None:
    done = process(stack, "run", BATCH, *command("echo one; sleep 0.3; echo two >&2"), "--follow")
    assert (done.returncode, done.stdout) == (0, "one\ntwo\n")


def test_the_applications_own_exit_code(stack: Stack, zoe: Zoe) -> None:
    failed = zoe("run", BATCH, *command("echo bad luck; exit 42"), "--exit-code-from-app", "-o", "json")
    assert failed.code == 42
    execution = json.loads(failed.out)
    assert (execution["state"], execution["exit_code"]) == ("failed", 42)
    assert zoe("wait", execution["id"]).code == 1
    assert zoe("logs", execution["id"]).out == "bad luck\n"
    end = f"the last lines of main-0 (`zoe logs {execution['id']} main-0` prints all):\n  bad luck\n"
    assert end in failed.err
    assert zoe("show", execution["id"]).err == end
    assert "exit code 42" in zoe("ls", "-n", "1").out


def test_a_drained_node_takes_nothing_until_it_is_released(stack: Stack, zoe: Zoe) -> None:
    nodes = [node["name"] for node in json.loads(zoe("nodes", "-o", "json").out)["nodes"]]
    for name in nodes:
        drained = zoe("nodes", "drain", name, "--note", "new disks")
        assert drained.code == 0
        assert "drained (new disks)" in drained.out
    waiting = zoe("run", BATCH, "-o", "name").out.strip()
    assert zoe("wait", waiting, "--timeout", "2").code == 124
    until(lambda: "drained: new disks" in zoe("explain", waiting).out)
    for name in nodes:
        assert zoe("nodes", "release", name).code == 0
    assert zoe("wait", waiting, "--timeout", "30").code == 0


def test_before_a_maintenance_window_only_what_ends_in_time_begins(stack: Stack, zoe: Zoe, tmp_path: Path) -> None:
    window = ("nodes", "drain", "--all", "--in", "1h", "--for", "2h", "--note", "new disks")
    assert "keeps no waiting execution from starting" in zoe(*window, "--dry-run").err
    assert zoe("nodes", "holds").out.count("\n") == 1
    drained = zoe(*window)
    assert drained.code == 0, drained.err
    assert zoe("nodes", "drain", "--all", "--in", "1d", "--for", "2h", "--note", "new kernel").code == 0
    document = json.loads(Path(BATCH).read_text())
    long, short = tmp_path / "long.json", tmp_path / "short.json"
    long.write_text(json.dumps({**document, "name": "long", "time_limit_s": 7200}))
    short.write_text(json.dumps({**document, "name": "short", "time_limit_s": 60}))
    waiting = zoe("run", str(long), "-o", "name").out.strip()
    assert zoe("run", str(short), "--wait").code == 0
    assert json.loads(zoe("show", waiting, "-o", "json").out)["state"] == "queued"
    until(lambda: "with a time limit of at most" in zoe("explain", waiting).out)
    assert zoe("nodes", "release", "--all").code == 0
    assert zoe("wait", waiting, "--timeout", "30").code == 0
    assert "name nodes, or give --all" in zoe("nodes", "drain").err
    assert "not both" in zoe("nodes", "drain", "--all", "--in", "1h", "--at", "2031-01-01").err
    assert "would have ended 2001-01-01" in zoe("nodes", "drain", "--all", "--at", "2001-01-01", "--for", "1h").err


def test_a_plan_keeps_nothing(stack: Stack, zoe: Zoe) -> None:
    before = zoe("ls", "-o", "name").out
    planned = zoe("plan", BATCH)
    assert (planned.code, planned.out.splitlines()[0]) == (0, "It would start now.")
    assert zoe("ls", "-o", "name").out == before


def test_waiting_execution_is_explained_and_cancelled(stack: Stack, zoe: Zoe) -> None:
    nodes = json.loads(zoe("nodes", "-o", "json").out)["nodes"]
    cores = ["--set", f"main.resources.cores={nodes[0]['cores']}"]
    running = zoe("run", BATCH, *command("exec sleep 600"), *cores, "-o", "name").out.strip()
    waiting = zoe("run", BATCH, *cores, "-o", "name").out.strip()
    until(lambda: "cores" in zoe("explain", waiting).out)
    eta = zoe("eta", waiting)
    assert eta.code == 0
    assert "Its expected run time: " in eta.out
    of_running = zoe("eta", running)
    assert of_running.code == 0
    assert "start" not in of_running.out
    assert "Its expected run time: " in of_running.out
    assert zoe("wait", waiting, "--timeout", "0.2").code == 124
    until(lambda: running in zoe("top").out)
    dry = zoe("policy", "set", "order=las", "--dry-run", "-o", "json")
    assert dry.code == 0
    assert waiting in json.loads(dry.out)["wanted"]["first"]
    assert json.loads(zoe("policy", "get", "-o", "json").out)["order"] == "size"
    planned = zoe("plan", BATCH, *cores)
    assert planned.code == 8
    assert "It would wait: " in planned.out
    assert zoe("plan", BATCH, "--set", "main.resources.cores=4096").code == 6
    until(lambda: "no room for its essential services" in zoe("why-waited", waiting).out)
    assert zoe("cancel", running, waiting).code == 0
    assert zoe("wait", running, waiting, "--timeout", "30").code == 1
    listed = zoe("ls", "--state", "cancelled", "-o", "name").out.split()
    assert {running, waiting} <= set(listed)
