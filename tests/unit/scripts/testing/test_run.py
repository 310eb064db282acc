"""A run gates on failures, on capabilities that did not run, and on nothing in quarantine."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.testing import run
from scripts.testing.costs import Costs
from scripts.testing.names import ROOT
from scripts.testing.parts import PARTS, Part, part_of, run_side_by_side
from scripts.testing.run import Result, close, selected, unshown
from scripts.testing.session import SOME_FAILED, Cases, pytest_run

TESTS = """
import os, threading
import pytest

def test_fine(): pass

def test_wrong():
    assert 1 == 2, "not equal"

@pytest.mark.skip(reason="no such program")
def test_skipped(): pass
"""


def of_file(tmp_path: Path, text: str) -> Cases:
    (tmp_path / "test_some.py").write_text(text)
    return pytest_run([str(tmp_path / "test_some.py")], tmp_path / "records.jsonl")


def test_a_real_run_is_told_and_names_the_command_that_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = of_file(tmp_path, TESTS)
    assert (cases.exit_code, len(cases.passed), list(cases.skips.values())) == (SOME_FAILED, 1, ["no such program"])
    assert close([Result("api", 1.0, cases)]) == 1
    told = capsys.readouterr().out
    assert "not equal" in told
    assert "again: .venv/bin/python -m pytest" in told
    assert "1 passed, 1 failed, 1 skipped" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import os\ndef test_ends(): os._exit(0)\n", "exit code 0 before its last test"),
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        (
            "import threading\n"
            "def test_leaves(): threading.Thread(target=threading.Event().wait, name='left').start()\n",
            "its thread left did not end",
        ),
    ],
)
def test_a_process_that_does_not_come_to_its_end_has_failed(
    text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOE_TEST_EXIT_S", "0.5")
    cases = of_file(tmp_path, text)
    assert told in "".join(cases.failed.values())
    assert close([Result("api", 1.0, cases)]) == 1


def test_no_test_begins_after_the_time_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text("def test_fails(): assert False\n")
    cases = pytest_run(["--until=1.0", str(tmp_path / "test_some.py")], tmp_path / "records.jsonl")
    assert (cases.passed, cases.failed, cases.broken) == (set(), {}, "")


def test_no_test_begins_after_an_interrupt(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text("def test_fails(): assert False\n")
    (tmp_path / "interrupted").touch()
    cases = pytest_run([str(tmp_path / "test_some.py")], tmp_path / "records.jsonl")
    assert (cases.passed, cases.failed, cases.broken) == (set(), {}, "")


def test_a_run_without_any_test_has_failed() -> None:
    assert close([Result("api", 1.0, Cases())]) == 1


def test_a_failure_in_quarantine_does_not_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "quarantined", lambda: {"tests/a.py::test_x": {}})
    assert close([Result("api", 1.0, Cases(passed={"y"}, failed={"tests/a.py::test_x": "E  why"}))]) == 0
    assert "FAILED, in quarantine: tests/a.py::test_x" in capsys.readouterr().out


def test_a_capability_that_did_not_run_fails_tier_1(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, skipped, missing = "tests/a.py::test_1", "tests/a.py::test_2", "tests/a.py::test_3"
    monkeypatch.setattr(Costs, "read", lambda: Costs(1.0, {}, {}, frozenset({shown, skipped, missing})))
    results = [Result("api", 1.0, Cases(passed={shown}, skips={skipped: "missing program"}))]
    monkeypatch.setenv("ZOE_REQUIRE_ALL", "0")
    assert [missing in one for one in unshown(results)] == [True]
    monkeypatch.setenv("ZOE_REQUIRE_ALL", "1")
    assert len(list(unshown(results))) == 2


def test_every_test_file_belongs_to_a_part() -> None:
    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("**/test_*.py"))
    assert {part_of(file) for file in files} == set(PARTS)
    chosen = selected([], 2)
    assert len({path for paths in chosen.values() for path in paths}) == len(files)


def test_a_folder_leaves_files_of_other_parts_out() -> None:
    chosen = selected(["storage"], 0)
    assert {part.name for part in chosen} == {"storage"}
    assert "--ignore=tests/storage/test_bandwidth.py" in next(iter(chosen.values()))


def test_parts_run_side_by_side_where_they_fit() -> None:
    running, seen = set[str](), list[set[str]]()

    def one(part: Part) -> str:
        seen.append(set(running))
        return part.name

    parts = [Part("a", (), 1.0), Part("b", (), 1.0), Part("quiet", (), quiet=True), Part("c", (), 2.0)]
    assert sorted(run_side_by_side(parts, 2, one, running)) == ["a", "b", "c", "quiet"]
    assert all(len(names) == 1 for names in seen if "quiet" in names)
