"""The command line against the whole of Zoe: real processes, nothing faked."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.stack import zoe
from zoe_embedded.stack import Stack

BATCH = str(Path(__file__).parents[2] / "app_descriptions" / "batch.json")


def command(text: str) -> list[str]:
    return ["--set", f"main.command={json.dumps(['sh', '-c', text])}"]


def test_run_and_follow(stack: Stack) -> None:
    done = zoe(stack, "run", BATCH, *command("echo one; sleep 0.3; echo two >&2"), "--follow")
    assert (done.returncode, done.stdout) == (0, "one\ntwo\n")


def test_the_applications_own_exit_code(stack: Stack) -> None:
    failed = zoe(stack, "run", BATCH, *command("echo bad luck; exit 42"), "--exit-code-from-app", "-o", "json")
    assert failed.returncode == 42
    execution = json.loads(failed.stdout)
    assert (execution["state"], execution["exit_code"]) == ("failed", 42)
    assert zoe(stack, "wait", execution["id"]).returncode == 1
    assert zoe(stack, "logs", execution["id"]).stdout == "bad luck\n"


def test_a_drained_node_takes_nothing_until_it_is_released(stack: Stack) -> None:
    nodes = [node["name"] for node in json.loads(zoe(stack, "nodes", "-o", "json").stdout)["nodes"]]
    for name in nodes:
        drained = zoe(stack, "nodes", "drain", name, "--note", "new disks")
        assert drained.returncode == 0
        assert "drained (new disks)" in drained.stdout
    waiting = zoe(stack, "run", BATCH, "-o", "name").stdout.strip()
    assert zoe(stack, "wait", waiting, "--timeout", "2").returncode == 124
    assert "drained: new disks" in zoe(stack, "explain", waiting).stdout
    for name in nodes:
        assert zoe(stack, "nodes", "release", name).returncode == 0
    assert zoe(stack, "wait", waiting, "--timeout", "30").returncode == 0


def test_a_plan_keeps_nothing(stack: Stack) -> None:
    before = zoe(stack, "ls", "-o", "name").stdout
    planned = zoe(stack, "plan", BATCH)
    assert (planned.returncode, planned.stdout) == (0, "It would start now.\n")
    assert zoe(stack, "ls", "-o", "name").stdout == before


def test_what_waits_is_explained_and_cancelled(stack: Stack) -> None:
    nodes = json.loads(zoe(stack, "nodes", "-o", "json").stdout)["nodes"]
    cores = ["--set", f"main.resources.cores={nodes[0]['cores']}"]
    running = zoe(stack, "run", BATCH, *command("exec sleep 600"), *cores, "-o", "name").stdout.strip()
    waiting = zoe(stack, "run", BATCH, *cores, "-o", "name").stdout.strip()
    assert "cores" in zoe(stack, "explain", waiting).stdout
    eta = zoe(stack, "eta", waiting)
    assert eta.returncode == 0
    assert "Its run time: " in eta.stdout
    assert zoe(stack, "wait", waiting, "--timeout", "0.2").returncode == 124
    assert running in zoe(stack, "top").stdout
    dry = zoe(stack, "policy", "set", "order=las", "--dry-run", "-o", "json")
    assert dry.returncode == 0
    assert waiting in json.loads(dry.stdout)["wanted"]["first"]
    assert json.loads(zoe(stack, "policy", "get", "-o", "json").stdout)["order"] == "size"
    planned = zoe(stack, "plan", BATCH, *cores)
    assert planned.returncode == 8
    assert "It would wait: " in planned.stdout
    assert zoe(stack, "plan", BATCH, "--set", "main.resources.cores=4096").returncode == 6
    assert "no room for its core" in zoe(stack, "why-waited", waiting).stdout
    assert zoe(stack, "cancel", running, waiting).returncode == 0
    assert zoe(stack, "wait", running, waiting, "--timeout", "30").returncode == 1
    listed = zoe(stack, "ls", "--state", "cancelled", "-o", "name").stdout.split()
    assert {running, waiting} <= set(listed)
