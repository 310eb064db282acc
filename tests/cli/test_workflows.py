"""workflow validate, run, ls, show, cancel and wait over the real API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.cli.server import Server

GOOD = """\
version: 1
name: nightly
params:
  rows: {type: integer, default: 10}
steps:
  - name: prepare
    image: zoe/tiny
    command: [echo, "{param:rows}"]
  - name: train
    needs: [prepare]
    image: zoe/tiny
    matrix: {alpha: [1, 2]}
    command: ["true"]
"""
BAD = """\
version: 1
name: nightly
colour: red
steps:
  - name: prepare
    needs: [trane]
    image: zoe/tiny
    command: [echo, "{param:rows}"]
    memory: 12 XB
  - name: train
    image: zoe/tiny
    command: ["true"]
"""


@pytest.fixture
def good(tmp_path: Path) -> str:
    file = tmp_path / "nightly.yaml"
    file.write_text(GOOD)
    return str(file)


def test_all_errors_have_their_lines(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(BAD)
    for command in ("validate", "run"):
        done = zoe("workflow", command, str(file), "--param", "day=1")
        assert done.code == 2
        assert done.out == ""
        for words in (
            f"{file}:3:1: /colour: unknown key 'colour'",
            f"{file}:6:13: /steps/0/needs/0: no step has the name 'trane' (did you mean 'train'?)",
            f"{file}:8:21: /steps/0/command/1: '{{param:rows}}': the step has no parameter 'rows'",
            f"{file}:9:5: /steps/0/memory: ",
            f"{file}:1:1: /params: there is no parameter 'day'",
        ):
            assert words in done.err, done.err


def test_invalid_yaml_is_refused_before_sending(zoe: Zoe, tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("version: 1\nversion: 1\n")
    done = zoe("workflow", "validate", str(file))
    assert (done.code, "line 2 column 1: key 'version' occurs twice" in done.err) == (2, True)
    assert zoe("workflow", "run", str(tmp_path / "nothing.yaml")).code == 2


@pytest.mark.parametrize("given", [["rows"], ["=1"], ["rows=1", "rows=2"]])
def test_parameters_are_names_with_values(zoe: Zoe, good: str, given: list[str]) -> None:
    assert zoe("workflow", "run", good, *(part for text in given for part in ("--param", text))).code == 2


def test_run_show_list_and_cancel(server: Server, zoe: Zoe, good: str) -> None:
    plan = json.loads(zoe("workflow", "run", good, "--show", "--param", "rows=3").out)
    assert [step["name"] for step in plan["steps"]] == ["prepare", "train.0", "train.1"]
    assert plan["steps"][0]["application"]["components"][0]["command"] == ["echo", "3"]
    command = ("workflow", "run", good, "--idempotency-key", "night", "-o", "name")
    made, again = zoe(*command), zoe(*command)
    assert (made.code, again.out) == (0, made.out), made.err
    workflow_id = made.out.strip()
    shown = zoe("workflow", "show", workflow_id)
    assert shown.out.splitlines()[0].split() == ["STEP", "AFTER", "STATE", "EXECUTION", "MESSAGE"]
    assert shown.out.splitlines()[2].split()[:3] == ["train.0", "ok:prepare", "waiting"]
    assert zoe("workflow", "ls", "-o", "name").out.split().count(workflow_id) == 1
    assert zoe("workflow", "wait", workflow_id, "--timeout", "0").code == 124
    assert zoe("workflow", "resume", workflow_id).code == 5
    assert "cancelled" in zoe("workflow", "cancel", workflow_id).out
    ended = zoe("workflow", "wait", workflow_id)
    assert (ended.code, "was cancelled" in ended.err) == (1, True)
    assert zoe("workflow", "show", "nothing").code == 3


def test_wait_takes_workflows_and_other_commands_name_their_own(server: Server, zoe: Zoe, good: str) -> None:
    made = zoe("workflow", "run", good, "-o", "name").out.strip()
    zoe("workflow", "cancel", made)
    waited = zoe("wait", made)
    assert (waited.code, "was cancelled" in waited.err) == (1, True), waited.err
    assert f"(zoe workflow show {made})" in zoe("explain", made).err


def test_wait_takes_executions_arrays_and_workflows_together(
    server: Server, zoe: Zoe, good: str, app_file: Path
) -> None:
    workflow = zoe("workflow", "run", good, "-o", "name").out.strip()
    execution = zoe("run", str(app_file), "--hold", "-o", "name").out.strip()
    array = zoe("run", str(app_file), "--hold", "--array", "0-3", "-o", "name").out.strip()
    zoe("workflow", "cancel", workflow)
    zoe("cancel", execution, array)
    waited = zoe("wait", workflow, execution, array)
    assert waited.code == 1
    assert {line.split()[0] for line in waited.out.splitlines()[1:]} == {workflow, execution, array}
    assert all(f"({text})" in waited.err for text in (workflow, execution, array)), waited.err
    found = json.loads(zoe("wait", array, workflow, execution, "-o", "json").out)
    assert {kind: [entry["id"] for entry in ones] for kind, ones in found.items()} == {
        "executions": [execution],
        "arrays": [array],
        "workflows": [workflow],
    }
    missing = zoe("wait", workflow, "w00000000000000", execution)
    assert (missing.code, "w00000000000000" in missing.err) == (3, True)
    assert zoe("wait", workflow, "-o", "name").out.strip() == workflow


def test_files_travel_along(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('{param:rows}')\n")
    part = {"name": "main", "image": "zoe/tiny", "command": ["true"], "resources": {"memory": "1GiB"}}
    (tmp_path / "app.json").write_text(json.dumps({"version": 4, "name": "app", "components": [part]}))
    file = tmp_path / "w.yaml"
    step = "  - {name: a, image: zoe/tiny, command: [python3, '{files}/train.py'], files: [train.py]}\n"
    file.write_text(f"version: 1\nname: w\nsteps:\n{step}  - {{name: b, application: app.json}}\n")
    plan = json.loads(zoe("workflow", "run", str(file), "--show").out)
    assert plan["steps"][0]["application"]["components"][0]["files"] == {"train.py": "print('{param:rows}')\n"}
    assert plan["steps"][1]["application"]["name"] == "app"
    (tmp_path / "app.json").unlink()
    done = zoe("workflow", "validate", str(file))
    assert (done.code, "line 5: cannot read" in done.err) == (2, True)
