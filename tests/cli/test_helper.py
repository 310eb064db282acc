"""The resident helper answers every command as a process of its own does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import APP
from tests.cli.helper import HELPED, PLAIN, PLAIN_WAY, TIMEOUT_S, Helper, without_durations
from tests.cli.terminal import Terminal

Words = Callable[[list[str]], list[str]]
CASES = [
    ["--version"],
    ["--help"],
    ["run", "--help"],
    [],
    ["no-such-command"],
    ["ls"],
    ["ls", "-o", "json"],
    ["ls", "-o", "yaml"],
    ["ls", "-o", "name", "-n", "1"],
    ["ls", "-n", "many"],
    ["ls", "--no-such-option"],
    ["ls", "-s", "running", "--all-tenants"],
    ["show", "{id}"],
    ["show", "{id}", "-o", "json"],
    ["show", "{id}", "--timeline"],
    ["show", "x1m8zzzzzzzzzzzz"],
    ["run", "{file}", "--key", "same", "-o", "name"],
    ["run", "no-such-file.json"],
    ["run", "{file}", "--show"],
    ["run", "/dev/stdin"],
    ["sbatch", "--test-only", "{script}"],
    ["sbatch", "no-such-script"],
    ["cancel", "{id}"],
    ["cancel", "{id}", "x1m8zzzzzzzzzzzz"],
    ["wait", "{id}", "--timeout", "0.1"],
    ["explain", "{id}"],
    ["events", "{id}"],
    ["validate", "{file}"],
    ["quota"],
    ["nodes", "-o", "json"],
    ["whoami", "-o", "yaml"],
    ["policy", "get"],
    ["completion", "bash"],
    ["--url", "http://127.0.0.1:9", "ls"],
    ["--url", "nowhere", "ls"],
    ["--token", "wrong", "ls"],
    ["--token-file", "no-such-file", "ls"],
    ["--context", "no-such-context", "ls"],
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("files")
    (found / "app.json").write_text(json.dumps(APP))
    (found / "job.sh").write_text("#!/bin/bash\n#SBATCH --ntasks=2\ntrue\n")
    return found


@pytest.fixture(scope="module")
def words(helper: Helper, directory: Path) -> Words:
    file = str(directory / "app.json")
    known = {"file": file, "script": str(directory / "job.sh")}
    known["id"] = helper.plainly("run", file, "-o", "name")[1].strip()
    return lambda case: [word.format(**known) for word in case]


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_both_ways_answer_the_same(case: list[str], helper: Helper, words: Words) -> None:
    plainly = helper.plainly(*words(case))
    assert helper.helped(*words(case)) == plainly
    assert plainly[0] != PLAIN_WAY


@pytest.mark.parametrize(
    "more",
    [
        {"FORCE_COLOR": "1"},
        {"TZ": "Asia/Tokyo"},
        {"ZOE_TOKEN": "wrong"},
        {"ZOE_TOKEN": ""},
        {"ZOE_CONTEXT": "none", "ZOE_URL": "", "ZOE_TOKEN": ""},
        {"HTTP_PROXY": "http://127.0.0.1:9"},
        {"COLUMNS": "40"},
    ],
    ids=str,
)
def test_variables_are_the_callers(more: dict[str, str], helper: Helper, words: Words) -> None:
    case = words(["show", "{id}"])
    assert helper.helped(*case, **more) == helper.plainly(*case, **more)


def both_ways(helper: Helper, run: Callable[[list[str], dict[str, str]], object]) -> list[object]:
    return [run(PLAIN, {**helper.variables, "ZOE_HELPER": "0"}), run(HELPED, helper.variables)]


def test_standard_input_and_the_working_directory_are_the_callers(helper: Helper, directory: Path) -> None:
    def run(zoe: list[str], variables: dict[str, str]) -> object:
        script = (directory / "job.sh").read_bytes()
        same: Any = {"env": variables, "capture_output": True, "timeout": TIMEOUT_S}
        typed = subprocess.run([*zoe, "sbatch", "--test-only"], input=script, check=False, **same)
        here = subprocess.run([*zoe, "run", "app.json", "--show"], cwd=directory, check=False, **same)
        return typed.returncode, typed.stdout, here.returncode, here.stdout

    plainly, helped = both_ways(helper, run)
    assert helped == plainly


@pytest.mark.parametrize("case", [["ls"], ["--help"], ["status", "-o", "json"]], ids=" ".join)
def test_a_reader_that_has_gone_and_a_full_disk(case: list[str], helper: Helper) -> None:
    def run(zoe: list[str], variables: dict[str, str]) -> object:
        reader, gone = os.pipe()
        os.close(reader)
        full = os.open("/dev/full", os.O_WRONLY)
        found = []
        for output in (gone, full):
            same: Any = {"stderr": subprocess.PIPE, "text": True, "timeout": TIMEOUT_S}
            done = subprocess.run([*zoe, *case], env=variables, stdout=output, check=False, **same)
            os.close(output)
            found.append((done.returncode, re.sub(r"(?m)^  .*\n", "", done.stderr)))
        return found

    plainly, helped = both_ways(helper, run)
    assert helped == plainly


@pytest.mark.parametrize(
    ("case", "closed"),
    [(["run", "-"], "<&-"), (["ls"], ">&-"), (["show", "none"], "2>&-"), (["ls"], "<&- >&- 2>&-")],
    ids=str,
)
def test_closed_standard_files_are_empty(case: list[str], closed: str, helper: Helper) -> None:
    def run(zoe: list[str], variables: dict[str, str]) -> object:
        command = ["bash", "-c", f'"$@" {closed}', "bash", *zoe, *case]
        done = subprocess.run(command, env=variables, capture_output=True, check=False, timeout=TIMEOUT_S)
        return done.returncode, done.stdout, done.stderr

    plainly, helped = both_ways(helper, run)
    assert helped == plainly
    assert b"Traceback" not in plainly[2]  # type: ignore[index]


@pytest.mark.parametrize("place", ["<(cat app.json)", "/dev/fd/7 7<app.json"])
def test_files_that_are_open_in_the_caller_only_are_read_there(place: str, helper: Helper, directory: Path) -> None:
    def run(zoe: list[str], variables: dict[str, str]) -> int:
        command = ["bash", "-c", f'"$@" {place}', "bash", *zoe, "validate", "--offline"]
        same: Any = {"env": variables, "cwd": directory, "capture_output": True, "timeout": TIMEOUT_S}
        return subprocess.run(command, check=False, **same).returncode

    assert both_ways(helper, run) == [0, PLAIN_WAY]


@pytest.mark.parametrize("case", [["ls"], ["show", "{id}"], ["--help"], ["nodes"], ["ls", "-n", "x"]], ids=" ".join)
def test_a_terminal_looks_the_same(case: list[str], helper: Helper, words: Words) -> None:
    def run(zoe: list[str], variables: dict[str, str]) -> object:
        both = frozenset({"stdout", "stderr"})
        with Terminal(*words(case), environment=variables, on=both, zoe=zoe) as terminal:
            return without_durations(terminal.read_all()), terminal.end()

    plainly, helped = both_ways(helper, run)
    assert helped == plainly
