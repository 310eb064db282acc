"""A run gates on failures, on capabilities that did not run, and on nothing in quarantine."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from scripts.testing import run
from scripts.testing.costs import Costs, FileCosts
from scripts.testing.parts import PARTS, ROOT, Part, files_at, part_of, run_side_by_side
from scripts.testing.run import close, missing_capabilities, select_tests
from scripts.testing.session import SOME_FAILED, Result, pytest_run

TESTS = """
import pytest

def test_fine(): pass

def test_wrong():
    assert 1 == 2, "not equal"

@pytest.mark.skip(reason="no such program")
def test_skipped(): pass
"""


def of_file(tmp_path: Path, text: str, *arguments: str) -> Result:
    (tmp_path / "test_some.py").write_text(text)
    return pytest_run("api", [*arguments, str(tmp_path / "test_some.py")], tmp_path)


def test_a_real_run_names_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = of_file(tmp_path, TESTS)
    assert (result.exit_code, len(result.passed), list(result.skips.values())) == (SOME_FAILED, 1, ["no such program"])
    assert not result.broken
    assert close([result]) == 1
    told = capsys.readouterr().out
    assert "not equal" in told
    assert "1 passed, 1 failed, 1 skipped" in told


def test_a_failure_prints_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOE_TEST_DELAYS", "7")
    assert close([Result("api", failed={"tests/a.py::test_x[a b]": "E  why"})]) == 1
    assert "again: ZOE_TEST_DELAYS=7 .venv/bin/python -m pytest 'tests/a.py::test_x[a b]'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import os\ndef test_ends(): os.kill(os.getpid(), 9)\n", "exit code -9 before its last test, in or after"),
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("import time\ntime.sleep(600)\n", "exit code 1 before its last test, in or after none"),
        (
            "import threading\n"
            "def test_leaves(): threading.Thread(target=threading.Event().wait, name='left').start()\n",
            "after its last test: threads did not end (left)",
        ),
        ("import ctypes\ndef test_hangs(): ctypes.PyDLL(None).sleep(600)\n", "exit code 1 before its last test"),
    ],
    ids=[
        "killed",
        "no import",
        "hangs while it collects",
        "thread",
        "hangs outside of Python",
    ],
)
def test_a_process_that_does_not_come_to_its_end_has_failed(
    text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOE_TEST_EXIT_S", "0.5")
    monkeypatch.setenv("ZOE_TEST_HANG_S", "2")
    result = of_file(tmp_path, text)
    assert told in "".join(result.failed.values())
    assert close([result]) == 1


def test_no_test_begins_after_the_time_of_a_run_or_an_interrupt(tmp_path: Path) -> None:
    late = of_file(tmp_path, "def test_fails(): assert False\n", "--until=1.0")
    (tmp_path / "interrupted").touch()
    for result in (late, of_file(tmp_path, "def test_fails(): assert False\n")):
        assert (result.passed, result.failed, result.broken) == (set(), {}, "")
        assert close([result]) == 1  # a run without any test


def test_an_interrupt_lets_no_further_test_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "RECORDS", tmp_path)
    (tmp_path / "20261129T000000-1").mkdir()
    with pytest.raises(KeyboardInterrupt):
        run._interrupt(signal.SIGINT, None)
    assert (tmp_path / "20261129T000000-1" / "interrupted").exists()


def test_a_failure_in_quarantine_does_not_gate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "quarantined_tests", lambda: {"tests/a.py::test_x": {}})
    assert close([Result("api", passed={"y"}, failed={"tests/a.py::test_x": "E  why"})]) == 0
    assert "FAILED, in quarantine: tests/a.py::test_x" in capsys.readouterr().out


def test_a_capability_that_did_not_run_fails_tier_1(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, skipped, missing = "tests/a.py::test_1", "tests/a.py::test_2", "tests/a.py::test_3"
    monkeypatch.setattr(Costs, "read", lambda: Costs(1.0, {}, {}, frozenset({shown, skipped, missing})))
    results = [Result("api", passed={shown}, skips={skipped: "missing program"})]
    monkeypatch.setenv("ZOE_REQUIRE_ALL", "0")
    assert missing_capabilities(results) == [missing]
    monkeypatch.setenv("ZOE_REQUIRE_ALL", "1")
    assert missing_capabilities(results) == [skipped, missing]


def test_a_run_that_costs_more_than_twice_the_table_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "RECORDS", tmp_path)
    monkeypatch.setattr(
        Costs, "read", lambda: Costs(1.0, {}, {"tests/api/test_a.py": FileCosts(cheap_tests=9, cheap=5.0)})
    )
    (tmp_path / "20261129T000000-1").mkdir()
    for whole_s, code in ((9.9, 0), (10.1, 1)):
        (tmp_path / "20261129T000000-1" / "api.jsonl").write_text(json.dumps({"whole_s": whole_s}))
        assert close([Result("api", passed={"y"})], "1") == code


def test_every_test_file_belongs_to_one_part() -> None:
    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("**/test_*.py"))
    assert {part_of(file) for file in files} == set(PARTS)
    assert sorted(file for part in PARTS for file in files_at(part.name)) == files
    assert sorted(file for tests in select_tests([], 2).values() for file in tests) == files


@pytest.mark.parametrize("wrong", ["no_such_part", "tests/unit/test_gone.py", "tests/unit/conftest", "zoe_lib", "/etc"])
def test_an_unknown_part_is_refused(wrong: str) -> None:
    with pytest.raises(SystemExit, match="no such part, file of tests or test"):
        select_tests([wrong], 0)


def test_parts_run_side_by_side_where_they_fit() -> None:
    now, seen = set[str](), list[set[str]]()

    def one(part: Part) -> str:
        now.add(part.name)
        seen.append(set(now))
        now.discard(part.name)
        return part.name

    parts = [Part("a", (), 1.0), Part("b", (), 1.0), Part("quiet", (), quiet=True), Part("c", (), 2.0)]
    assert sorted(run_side_by_side(parts, 2, one)) == ["a", "b", "c", "quiet"]
    assert {"quiet"} in seen
    assert all(len(names) == 1 for names in seen if "quiet" in names or "c" in names)
