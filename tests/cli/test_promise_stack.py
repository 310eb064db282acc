"""Promises against the whole of Zoe: promises, offers and acceptance on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Zoe
from tests.support.ending import cancel_all
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.stack import Stack


@pytest.fixture(autouse=True)
def nothing_left(stack: Stack) -> Iterator[None]:
    yield
    with Client(stack.url, stack.token) as client:
        cancel_all(client)


def described(tmp_path: Path, run_s: float, seconds: float, **more: Any) -> str:
    document = {
        "version": 4,
        "name": "promised",
        "size": {"run_time_s": run_s},
        "components": [
            {
                "name": "main",
                "image": "zoe/tiny",
                "ends_application": True,
                "command": ["sleep", str(seconds)],
                "environment": {"KIND": str(more.get("name"))},  # programs that differ do not teach each other
                "resources": {"memory": "32MiB", "cores": 0.1},
            }
        ],
        **more,
    }
    path = tmp_path / "app.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_a_time_is_promised_and_kept(zoe: Zoe, tmp_path: Path) -> None:
    """With much more time than needed: on a busy machine it would rightly be reported at risk."""
    path = described(tmp_path, 3, 0.5)
    planned = zoe("plan", path, "--finish-by", "+2h", "--confidence", "80%")
    assert planned.code == 0
    assert "It would be promised: it ends by " in planned.out
    assert "with 80% confidence" in planned.out
    ran = zoe("run", path, "--finish-by", "+2h", "--budget", "5", "--wait", "-o", "json")
    assert ran.code == 0, ran.err
    assert "Promised: it ends by " in ran.err
    found = json.loads(ran.out)
    assert (found["state"], found["promise"]["offer"], found["promise"]["notice"]) == ("succeeded", 0, None)
    assert found["deadline"]["status"] == "met"
    shown = zoe("show", found["id"])
    assert "Promised: it ends by " in shown.out
    assert "it ends by " in zoe("events", found["id"]).out


def test_impossible_promise_is_answered_with_offers(zoe: Zoe, tmp_path: Path) -> None:
    path = described(tmp_path, 30, 0.5, name="countered")  # otherwise its runs count instead of its declaration
    planned = zoe("plan", path, "--finish-by", "+10s")
    assert planned.code == 9
    assert "exceeds the time left" in planned.out
    ran = zoe("run", path, "--finish-by", "+10s", "--wait", "-o", "json")
    assert ran.code == 9, "there is nothing to wait for"
    assert "Offer 1 (the earliest end with that confidence): it ends by " in ran.err
    one = json.loads(ran.out)["id"]
    wrong = zoe("accept", one, "7")
    assert wrong.code == 5
    accepted = zoe("accept", one)
    assert accepted.code == 0
    assert "Promised: it ends by " in accepted.err
    assert zoe("accept", one).code == 0, "twice is once"
    until(lambda: json.loads(zoe("show", one, "-o", "json").out)["state"] == "succeeded")


@pytest.mark.parametrize(
    "options",
    [
        ["--confidence", "90%"],
        ["--budget", "3"],
        ["--finish-by", "+1h", "--confidence", "much"],
        ["--finish-by", "+1h", "--confidence", "30%"],
        ["--finish-by", "+1h", "--budget", "0"],
        ["--finish-by", "+1h", "--deadline", "+1h"],
        ["--finish-by", "yesterday"],
        ["--finish-by", "+0s"],
        ["--finish-by", "+1h", "--begin", "+2h"],
        ["--finish-by", "+1h", "--array", "0-999"],
    ],
)
def test_senseless_options_are_refused(zoe: Zoe, tmp_path: Path, options: list[str]) -> None:
    before = zoe("ls", "-o", "name").out
    assert zoe("run", described(tmp_path, 3, 0.5), *options).code == 2
    assert zoe("ls", "-o", "name").out == before


def test_unknown_run_time_gets_no_promise(zoe: Zoe, tmp_path: Path) -> None:
    path = described(tmp_path, 3, 0.5, name="never-ran")
    document = json.loads(Path(path).read_text())
    del document["size"]
    Path(path).write_text(json.dumps(document))
    ran = zoe("run", path, "--finish-by", "+1h")
    assert ran.code == 9
    assert "--run-time" in ran.err


def two_steps(tmp_path: Path, run_s: float, name: str) -> Path:
    """A workflow of two steps of a kind that has never run, and says that each takes so long."""
    application = json.loads(Path(described(tmp_path, run_s, 0.3, name=name)).read_text())
    steps = [{"name": "first", "application": application}]
    steps.append({"name": "second", "application": application, "needs": ["first"]})
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps({"version": 1, "name": "nightly", "steps": steps}))
    return path


def test_an_array_is_promised_or_offered_as_a_whole(zoe: Zoe, tmp_path: Path) -> None:
    path = described(tmp_path, 2, 0.3, name="swept")
    ran = zoe("run", path, "--array", "0-3%2", "--finish-by", "+60s", "--confidence", "80%", "--wait", "-o", "json")
    assert ran.code == 0, ran.err
    assert "Promised: all of it ends by " in ran.err
    shown = zoe("array", "show", json.loads(ran.out)["id"])
    assert "with 80% confidence" in shown.out
    assert "The promise was kept." in shown.out
    path = described(tmp_path, 30, 0.3, name="swept-late")
    late = zoe("run", path, "--array", "0-3%2", "--finish-by", "+12s", "--wait", "-o", "json")
    assert late.code == 9
    assert "exceeds the time left" in late.err
    one = json.loads(late.out)["id"]
    assert f"`zoe accept {one} NUMBER` accepts one" in late.err
    assert zoe("accept", one, "7").code == 5
    accepted = zoe("accept", one)
    assert accepted.code == 0
    assert "Promised: all of it ends by " in accepted.err
    assert zoe("accept", one).code == 0, "twice is once"
    assert zoe("wait", one).code == 0


def test_a_workflow_is_promised_or_offered_as_a_whole(zoe: Zoe, tmp_path: Path) -> None:
    path = two_steps(tmp_path, 3, "in-time")
    ran = zoe("workflow", "run", str(path), "--finish-by", "+60s", "--confidence", "80%", "--wait", "-o", "json")
    assert ran.code == 0, ran.err
    assert "Promised: all of it ends by " in ran.err
    assert "with 80% confidence, for about" in ran.err
    assert "Promised: all of it ends by " in zoe("workflow", "show", json.loads(ran.out)["id"]).err
    path = two_steps(tmp_path, 30, "too-late")
    late = zoe("workflow", "run", str(path), "--finish-by", "+12s", "--wait", "-o", "json")
    assert late.code == 9, "there is nothing to wait for"
    assert "exceeds the time left" in late.err
    assert "Offer 1 (the earliest end with that confidence): all of it ends by " in late.err
    one = json.loads(late.out)["id"]
    assert zoe("workflow", "accept", one, "7").code == 5
    accepted = zoe("workflow", "accept", one)
    assert accepted.code == 0
    assert "Promised: all of it ends by " in accepted.err
    assert zoe("workflow", "accept", one).code == 0, "twice is once"
    assert zoe("workflow", "wait", one).code == 0
    assert "The promise was kept." in zoe("workflow", "show", one).err
    wrong = zoe("workflow", "run", str(path), "--confidence", "80%")
    assert (wrong.code, "need --finish-by" in wrong.err) == (2, True)
    assert zoe("workflow", "run", str(path), "--finish-by", "yesterday").code == 2
    as_one = zoe("run", str(path), "--finish-by", "+1h")
    assert (as_one.code, "zoe workflow run" in as_one.err) == (2, True)
    yaml = tmp_path / "nightly.yaml"
    yaml.write_text("version: 1\nname: nightly\nsteps: []\n")
    as_json = zoe("plan", str(yaml), "--finish-by", "+1h")
    assert (as_json.code, "zoe workflow run" in as_json.err) == (2, True)


def test_all_of_an_array_and_of_a_workflow_is_planned(zoe: Zoe, tmp_path: Path) -> None:
    path = described(tmp_path, 3, 0.5)
    planned = zoe("plan", path, "--array", "0-3%2", "--finish-by", "+2h", "--confidence", "80%")
    assert planned.code == 0, planned.err
    assert planned.out.startswith("It would be promised: all of it ends by ")
    assert "with 80% confidence" in planned.out
    refused = zoe("plan", path, "--array", "0-3%2", "--finish-by", "+3s")
    assert refused.code == 9
    assert refused.out.startswith("It cannot be promised: ")
    assert "Offer 1 (" in refused.out
    alone = zoe("plan", path, "--array", "0-3")
    assert (alone.code, "Of 4 indices" in alone.out + alone.err) == (0, True)
    workflow = tmp_path / "chain.json"
    application = json.loads(Path(path).read_text())
    steps = [{"name": "first", "application": application}, {"name": "second", "needs": ["first"]}]
    steps[1]["application"] = application
    workflow.write_text(json.dumps({"version": 1, "name": "chain", "steps": steps}))
    whole = zoe("workflow", "plan", str(workflow), "--finish-by", "+2h")
    assert whole.code == 0, whole.err
    assert whole.out.startswith("It would be promised: all of it ends by ")
    assert '"chain"' not in zoe("workflow", "ls", "-o", "json").out
