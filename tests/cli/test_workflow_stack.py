"""Workflows against the whole of Zoe: real steps, real results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.support.ending import cancel_all
from zoe_client import Client
from zoe_embedded.stack import Stack

PIPELINE = """\
version: 1
name: nightly
params:
  day: {default: 2026-11-01}
  rows: {type: integer, default: 3}
steps:
  - name: report
    image: zoe/tiny
    inputs: {models: train.model}
    command: [sh, -c, 'cat "$@" > {result:page}', sh, "{input:models}"]
    results: {page: page.txt}
    memory: 64MiB
    cores: 0.1
  - name: prepare
    image: zoe/tiny
    command: [sh, -c, "echo {param:day} {param:rows} > {result:table}"]
    results: {table: table.csv}
    memory: 64MiB
    cores: 0.1
  - name: train
    image: zoe/tiny
    inputs: {table: prepare.table}
    matrix: {alpha: [0.1, 0.5]}
    command: [sh, -c, 'echo "{matrix:alpha} $(cat $ZOE_INPUT_TABLE)" > $ZOE_RESULT_MODEL']
    results: {model: model.txt}
    memory: 64MiB
    cores: 0.1
  - name: alarm
    image: zoe/tiny
    on_failure: [prepare, train, report]
    command: [sh, -c, "echo once >> {workspace}/alarms"]
    memory: 64MiB
    cores: 0.1
"""


@pytest.fixture(autouse=True)
def nothing_left(stack: Stack) -> Iterator[None]:
    yield
    with Client(stack.url, stack.token) as client:
        cancel_all(client)


def test_results_of_a_step_are_inputs_of_the_next(stack: Stack, zoe: Zoe, tmp_path: Path) -> None:
    file = tmp_path / "nightly.yaml"
    file.write_text(PIPELINE)
    done = zoe("workflow", "run", str(file), "--param", "rows=7", "--wait", "-o", "json")
    assert done.code == 0, done.err
    found = done.json()
    steps = {step["name"]: step for step in found["graph"]}
    assert {name: entry["state"] for name, entry in steps.items()} == {
        "prepare": "succeeded",
        "train.0": "succeeded",
        "train.1": "succeeded",
        "report": "succeeded",
        "alarm": "not_needed",
    }
    page = stack.workspace / steps["report"]["results"]["page"]
    assert page.read_text() == "0.1 2026-11-01 7\n0.5 2026-11-01 7\n"
    assert page.stat().st_mode & 0o222 == 0
    assert page.parent.stat().st_mode & 0o222 == 0
    assert not (stack.workspace / "alarms").exists()
    fetched = zoe("fetch", steps["report"]["execution_id"], str(tmp_path))
    assert fetched.code == 0, fetched.err


def test_a_failed_step_is_resumed_with_the_results_of_the_others(stack: Stack, zoe: Zoe, tmp_path: Path) -> None:
    file = tmp_path / "nightly.yaml"
    gate = stack.workspace / "gate"
    file.write_text(
        PIPELINE.replace("command: [sh, -c, 'cat", "command: [sh, -c, 'cat {workspace}/gate; cat").replace(
            'cat "$@"', 'test -e {workspace}/gate && cat "$@"'
        )
    )
    failed = zoe("workflow", "run", str(file), "--wait", "-o", "json")
    assert failed.code == 1
    before = {step["name"]: step for step in failed.json()["graph"]}
    assert (before["report"]["state"], before["alarm"]["state"]) == ("failed", "succeeded")
    assert (stack.workspace / "alarms").read_text() == "once\n"
    gate.write_text("")
    try:
        resumed = zoe("workflow", "resume", failed.json()["id"], "--wait", "-o", "json")
    finally:
        gate.unlink()
    assert resumed.code == 0, resumed.err
    after = {step["name"]: step for step in resumed.json()["graph"]}
    assert {
        name: entry["execution_id"] for name, entry in after.items() if name in ("prepare", "train.0", "train.1")
    } == {name: before[name]["execution_id"] for name in ("prepare", "train.0", "train.1")}
    assert (after["report"]["run"], after["report"]["state"]) == (2, "succeeded")
    page = stack.workspace / after["report"]["results"]["page"]
    assert page.read_text() == "0.1 2026-11-01 3\n0.5 2026-11-01 3\n"
    assert zoe("workflow", "resume", failed.json()["id"]).code == 5


MAPPED = """\
version: 1
name: mapped
params:
  parts: {default: '["a", "b c", "d{e"]'}
steps:
  - name: prepare
    image: zoe/tiny
    command: [sh, -c, 'printf %s "$1" > {result:parts}', sh, "{param:parts}"]
    results: {parts: parts.json}
    memory: 64MiB
    cores: 0.1
  - name: count
    for_each: {part: prepare.parts}
    image: zoe/tiny
    command: [sh, -c, 'test "$1" != bad || test -e {workspace}/gate && echo "$1" > {result:total}', sh, "{each:part}"]
    results: {total: total.txt}
    memory: 64MiB
    cores: 0.1
  - name: sum
    image: zoe/tiny
    inputs: {totals: count.total}
    command: [sh, -c, 'while read -r one; do cat "$one"; done < "$1" > {result:page}', sh, "{input:totals}"]
    results: {page: page.txt}
    memory: 64MiB
    cores: 0.1
"""


@pytest.mark.parametrize(("parts", "lines"), [('["a", "b c", "d{e"]', ["a", "b c", "d{e"]), ("[]", []), ("[7]", ["7"])])
def test_a_step_runs_once_for_each_entry_of_a_result(
    stack: Stack, zoe: Zoe, tmp_path: Path, parts: str, lines: list[str]
) -> None:
    file = tmp_path / "mapped.yaml"
    file.write_text(MAPPED)
    done = zoe("workflow", "run", str(file), "--param", f"parts={parts}", "--wait", "-o", "json")
    assert done.code == 0, done.err
    steps = {step["name"]: step for step in done.json()["graph"]}
    assert {name: entry["state"] for name, entry in steps.items()} == dict.fromkeys(steps, "succeeded")
    states = {"succeeded": len(lines)} if lines else {}
    assert steps["count"]["entries"] == {"count": len(lines), "states": states, "problem": None}
    assert (stack.workspace / steps["sum"]["results"]["page"]).read_text().splitlines() == lines


def test_entries_that_failed_run_again_and_a_list_outside_the_workspace_is_not_read(
    stack: Stack, zoe: Zoe, tmp_path: Path
) -> None:
    file = tmp_path / "mapped.yaml"
    file.write_text(MAPPED)
    failed = zoe("workflow", "run", str(file), "--param", 'parts=["a", "bad"]', "--wait", "-o", "json")
    assert failed.code == 1
    before = {step["name"]: step for step in failed.json()["graph"]}
    assert {name: entry["state"] for name, entry in before.items()} == {
        "prepare": "succeeded",
        "count": "failed",
        "sum": "skipped",
    }
    named = 'entry 1 ("bad") failed'
    assert named in failed.err
    shown = zoe("workflow", "show", failed.json()["id"])
    assert "failed, 1 of 2 entries, 1 failed" in shown.out
    assert named in shown.out
    for entry in (failed.json()["id"], before["count"]["execution_id"]):
        assert named in zoe("show", entry).out
    gate = stack.workspace / "gate"
    gate.write_text("")
    try:
        resumed = zoe("workflow", "resume", failed.json()["id"], "--wait", "-o", "json")
    finally:
        gate.unlink()
    assert resumed.code == 0, resumed.err
    after = {step["name"]: step for step in resumed.json()["graph"]}
    assert (after["count"]["execution_id"], after["count"]["run"]) == (before["count"]["execution_id"], 1)
    assert (stack.workspace / after["sum"]["results"]["page"]).read_text() == "a\nbad\n"

    file.write_text(MAPPED.replace('printf %s "$1" > {result:parts}', "ln -s /etc/passwd {result:parts}"))
    refused = zoe("workflow", "run", str(file), "--wait", "-o", "json")
    assert refused.code == 1
    count = {step["name"]: step for step in refused.json()["graph"]}["count"]
    assert count["entries"]["problem"] == "list_unreadable"
    assert "leads out of the directory by a link" in count["message"]
