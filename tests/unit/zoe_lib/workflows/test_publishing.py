"""The script around a step's command: results are there whole or not at all, never change, and go in the end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.waiting import until
from zoe_lib.workflows.publishing import SCRIPT


class Workspace:
    """The directories of one step, and its script."""

    def __init__(self, root: Path) -> None:
        self.base = root / ".zoe-workflows"
        self.workflow = self.base / "w1"
        self.final = self.workflow / "1" / "train"
        self.script = root / "step.sh"
        self.script.write_text(SCRIPT)

    def command(self, attempt: int, shell: str, results: list[str], inputs: list[str]) -> list[str]:
        writes = f"{self.final}.attempt-{attempt}"
        places = [str(self.base), "60", str(self.workflow), writes, str(self.final)]
        return ["/bin/sh", str(self.script), *places, *results, "--", *inputs, "--", "sh", "-c", shell, writes]

    def run(self, shell: str, *results: str, attempt: int = 1, inputs: tuple[str, ...] = ()) -> int:
        """In the shell, $0 is the attempt's directory."""
        return subprocess.run(
            self.command(attempt, shell, list(results), list(inputs)), timeout=10, check=False
        ).returncode


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_results_of_a_success_are_read_only_under_their_name(workspace: Workspace) -> None:
    assert workspace.run("mkdir $0/d; echo 1 > $0/d/a; echo 2 > $0/b", "d", "b") == 0
    assert (workspace.final / "d" / "a").read_text() == "1\n"
    modes = [path.stat().st_mode & 0o222 for path in (workspace.final, *workspace.final.rglob("*"))]
    assert modes == [0, 0, 0, 0]


def test_a_failed_attempt_leaves_nothing_and_its_exit_code(workspace: Workspace) -> None:
    assert workspace.run("echo half > $0/a; exit 7", "a") == 7
    assert not workspace.final.exists()
    assert workspace.run("test ! -e $0/a && echo whole > $0/a", "a", attempt=2) == 0
    assert (workspace.final / "a").read_text() == "whole\n"


def test_a_missing_result_fails_the_step(workspace: Workspace) -> None:
    assert workspace.run("echo 1 > $0/a", "a", "b") == 65
    assert not workspace.final.exists()


def test_what_was_published_never_changes(workspace: Workspace) -> None:
    assert workspace.run("echo 1 > $0/a", "a") == 0
    assert workspace.run("echo 2 > $0/a", "a", attempt=2) == 0
    assert (workspace.final / "a").read_text() == "1\n"
    assert [path.name for path in workspace.final.iterdir()] == ["a"]


def test_an_input_that_is_gone_is_said(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    there = workspace.base.parent / "step.sh"
    monkeypatch.setenv("ZOE_INPUT_X", f"{there},{there}")
    assert workspace.run("true", inputs=("ZOE_INPUT_X",)) == 0
    monkeypatch.setenv("ZOE_INPUT_X", f"{there},{workspace.base / 'nothing'}")
    assert workspace.run("true", inputs=("ZOE_INPUT_X",)) == 66


def test_a_stop_reaches_the_command(workspace: Workspace) -> None:
    ready = workspace.base.parent / "ready"
    shell = f"trap 'exit 9' TERM; touch {ready}; while :; do sleep 0.05; done"
    process = subprocess.Popen(workspace.command(1, shell, ["a"], []))
    until(ready.exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 9
    assert not workspace.final.exists()


def test_what_has_not_run_for_the_retention_is_swept_and_nothing_else(workspace: Workspace) -> None:
    old, recent, file = (workspace.base / name for name in ("w-old", "w-recent", "a-file"))
    outside = workspace.base.parent / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    for directory in (old, recent):
        (directory / "1").mkdir(parents=True)
        (directory / "1" / "a").touch()
        (directory / "link").symlink_to(outside)
    file.touch()
    (old / "1").chmod(0o500)
    before_s = time.time() - 2 * 3600
    for path in (old, file):
        os.utime(path, (before_s, before_s))
    assert workspace.run("true") == 0
    assert not old.exists()
    assert recent.exists()
    assert file.exists()
    assert (outside / "kept").exists()
    assert workspace.workflow.exists()
