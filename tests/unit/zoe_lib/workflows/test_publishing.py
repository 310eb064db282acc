"""The script around a step's command: results exist completely or not at all, never change, and are removed in the
end.
"""

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

    def command(
        self, attempt: int, shell: str, results: list[str], inputs: list[str], lists: tuple[str, ...] = ()
    ) -> list[str]:
        writes = f"{self.final}.attempt-{attempt}"
        entries = f"{self.final.parent / self.final.stem}.entries" if self.final.suffix else ""
        places = [str(self.base), "60", str(self.workflow), writes, str(self.final), entries]
        shown = [*places, *results, "--", *lists, "--", *inputs, "--"]
        return ["/bin/sh", str(self.script), *shown, "sh", "-c", shell, writes]

    def run(
        self,
        shell: str,
        *results: str,
        attempt: int = 1,
        inputs: tuple[str, ...] = (),
        lists: tuple[str, ...] = (),
    ) -> int:
        """In the shell, $0 is the attempt's directory."""
        command = self.command(attempt, shell, list(results), list(inputs), lists)
        return subprocess.run(command, timeout=10, check=False).returncode


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


def test_published_result_never_changes(workspace: Workspace) -> None:
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


class Mapped:
    """The results of a step that has run for a list, and a step that reads them."""

    def __init__(self, workspace: Workspace, entries: str) -> None:
        self.workspace = workspace
        self.source = workspace.base / "w1" / "1" / "prepare" / "parts.json"
        self.source.parent.mkdir(parents=True)
        self.source.write_text(entries)
        self.step = workspace.base / "w1" / "1" / "count"
        self.file = workspace.base.parent / "zoe-input-totals"

    def run_entry(self, number: int, shell: str = "echo 1 > $0/total", attempt: int = 1) -> int:
        self.workspace.final = Path(f"{self.step}.{number}")
        return self.workspace.run(shell, "total", attempt=attempt)

    def collect(self) -> int:
        self.workspace.final = self.workspace.base / "w1" / "1" / "sum"
        lists = (str(self.file), str(self.step), "total", str(self.source))
        return self.workspace.run("true", inputs=("ZOE_INPUT_TOTALS",), lists=lists)


@pytest.mark.parametrize("count", [1, 3, 12])
def test_paths_of_entries_stand_in_a_file_in_their_order(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    mapped = Mapped(workspace, "[...]")
    monkeypatch.setenv("ZOE_ARRAY_SIZE", str(count))
    monkeypatch.setenv("ZOE_INPUT_TOTALS", str(mapped.file))
    for number in reversed(range(count)):
        assert mapped.run_entry(number, "exit 1") == 1
        assert mapped.run_entry(number, attempt=2) == 0
    assert mapped.collect() == 0
    assert mapped.file.read_text().splitlines() == [f"{mapped.step}.{number}/total" for number in range(count)]


@pytest.mark.parametrize("entries", ["[]", " [ \n ]\n"])
def test_an_empty_list_is_an_empty_file(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, entries: str) -> None:
    mapped = Mapped(workspace, entries)
    monkeypatch.setenv("ZOE_INPUT_TOTALS", str(mapped.file))
    assert mapped.collect() == 0
    assert mapped.file.read_text() == ""


def test_results_of_entries_that_are_gone_are_no_shorter_list(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is missing, all that are missing, and the list itself."""
    mapped = Mapped(workspace, '["a", "b"]')
    monkeypatch.setenv("ZOE_INPUT_TOTALS", str(mapped.file))
    assert mapped.collect() == 66
    monkeypatch.setenv("ZOE_ARRAY_SIZE", "2")
    assert mapped.run_entry(0) == 0
    assert mapped.collect() == 66
    assert mapped.run_entry(1) == 0
    assert mapped.collect() == 0
    Path(f"{mapped.step}.entries").unlink()
    mapped.source.unlink()
    assert mapped.collect() == 66


def test_a_stop_reaches_the_command(workspace: Workspace) -> None:
    ready = workspace.base.parent / "ready"
    shell = f"trap 'exit 9' TERM; touch {ready}; while :; do sleep 0.05; done"
    process = subprocess.Popen(workspace.command(1, shell, ["a"], []))
    until(ready.exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 9
    assert not workspace.final.exists()


def test_only_old_workflow_directories_are_swept(workspace: Workspace) -> None:
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
