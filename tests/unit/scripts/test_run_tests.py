"""A failed test gets a second try, but for parts that are the same each time; what passes then is named."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from scripts import pytest_run, run_tests
from scripts.parts import Part
from scripts.pytest_order import ORDER
from scripts.pytest_run import ROOT, SOME_FAILED, Cases
from scripts.run_tests import REASON_LINES_MAX, SECOND_TRIES_MAX, Result, close, run, suite

# Passes, fails, fails once in its body and once while tidying up: one run of pytest for all of them.
TESTS = """
from pathlib import Path
import pytest

def first_time(name):
    mark = Path(__file__).with_name(name)
    seen = mark.exists()
    mark.touch()
    return not seen

@pytest.fixture
def left():
    yield
    assert not first_time("left")

def test_fine(): pass

@pytest.mark.skip(reason="no such program")
def test_skipped(): pass

def test_by_chance(): assert not first_time("chance")

def test_that_leaves(left): pass
"""
ENGINES = Part("swarm", ("unused",), 1, 1)
SEEDED = Part("properties", ("unused",), 1, 1, seeded=True)


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not write over the records of the run that this is part of; start pytest without what these need not."""
    monkeypatch.setattr(run_tests, "RECORDS", tmp_path)
    monkeypatch.setattr(run_tests, "KNOWN_SECOND_TRIES", tmp_path / "known.md")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("ZOE_STRICT", ORDER):
        monkeypatch.delenv(name, raising=False)


def counts(result: Result) -> tuple[int, int, int, bool]:
    return result.passed, len(result.failed), result.skips.total(), result.ok


def test_real_runs_pass_at_the_second_try(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, "utf-8")
    result = suite(Part("swarm", (str(tmp_path),), 1, 1))
    assert counts(result) == (3, 0, 1, True)
    assert {name.rpartition("::")[2] for name in result.second_try} == {"test_by_chance", "test_that_leaves"}
    assert close([result], 1.0, 1.0) == 0
    printed = capsys.readouterr().out
    assert "test_by_chance (NOT LISTED YET)" in printed
    assert 'assert not first_time("chance")' in printed
    assert "3 passed, 0 failed, 1 skipped" in printed


def test_a_real_run_that_breaks_down_has_failed(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, "utf-8")
    (tmp_path / "conftest.py").write_text("def pytest_sessionfinish(): raise OSError('an engine does not end')\n")
    result = suite(Part("swarm", (str(tmp_path),), 1, 1))
    assert not result.ok
    assert result.second_try == {}
    assert result.untold == {"pytest": "pytest ended with exit code 3"}


def test_a_file_that_cannot_be_read_has_failed(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text("import nothing_of_that_name\n", "utf-8")
    assert not suite(Part("swarm", (str(tmp_path),), 1, 1)).ok


def test_a_test_that_hangs_ends_the_part_and_is_named_with_its_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytest_run, "HANG_S", 5.0)  # pytest itself takes a second to begin on a busy machine
    monkeypatch.setattr(pytest_run, "_LOOK_S", 0.1)
    for name in ("ZOE_TEST_LONG", "ZOE_PROPERTY_CHECKS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "test_some.py").write_text("import threading\ndef test_waits(): threading.Event().wait()\n")
    result = suite(Part("swarm", (str(tmp_path),), 1, 1))
    assert counts(result) == (0, 1, 0, False)
    assert "in test_waits" in (tmp_path / "swarm.jsonl.log").read_text()


def test_a_part_that_does_not_exit_has_failed_with_its_stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_TEST_EXIT_S", "1")
    waits = "import threading\ndef wait(): threading.Event().wait()\n"
    (tmp_path / "test_some.py").write_text(f"{waits}def test_leaves(): threading.Thread(target=wait).start()\n")
    result = suite(Part("swarm", (str(tmp_path),), 1, 1))
    assert counts(result) == (0, 1, 0, False)
    assert list(result.untold.values()) == ["its thread Thread-1 (wait) did not end"]
    assert "in wait" in (tmp_path / "swarm.jsonl.log").read_text()


def test_what_a_part_waits_for_when_it_exits_counts(tmp_path: Path) -> None:
    """As the processes that fork others for its tests do, which end with it."""
    (tmp_path / "test_some.py").write_text(
        "import atexit, subprocess, sys\n"
        "BUSY = 'import time\\nwhile time.process_time() < 0.3: pass'\n"
        "def test_leaves(): atexit.register(lambda: subprocess.run([sys.executable, '-c', BUSY]))\n"
    )
    result = suite(Part("swarm", (str(tmp_path),), 1, 1))
    *_, end, last, run = pytest_run.read_records(tmp_path / "swarm.jsonl")
    assert (end["kind"], last["kind"], last["children_cpu_s"] >= 0.3) == ("end", "exit", True)
    assert run["kind"] == "run"
    assert result.cpu_s == pytest.approx(
        sum(one[name] for one in (end, last) for name in ("own_cpu_s", "children_cpu_s"))
    )


ORDERED = """
import pytest
RAN = []

@pytest.fixture(scope="module", params=["x", "y"])
def made(request):
    RAN.append(request.param)
    return request.param

@pytest.mark.parametrize("number", range(6))
def test_shares(made, number): assert RAN[-1] == made and len(RAN) == len(set(RAN))

@pytest.mark.parametrize("number", range(12))
def test_first(number): pass
"""


def ran(records: Path) -> list[str]:
    return [one["name"] for one in pytest_run.read_records(records) if one["kind"] == "test"]


def test_a_seed_orders_modules_and_their_tests_and_modules_stay_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcdef":
        (tmp_path / f"test_{name}.py").write_text(ORDERED, "utf-8")
    orders = []
    for number, seed in enumerate(["", "1", "1", "2"]):
        monkeypatch.setenv(ORDER, seed)
        cases = pytest_run.pytest_run([str(tmp_path)], tmp_path, tmp_path / f"{number}.jsonl")
        assert (cases.exit_code, len(cases.passed)) == (0, 6 * 24)
        assert f"in the order of {ORDER}={seed}" in cases.output or not seed
        orders.append(ran(tmp_path / f"{number}.jsonl"))
    plain, first, again, other = orders
    assert first == again
    assert sorted(plain) == sorted(first) == sorted(other)
    assert len({tuple(order) for order in orders}) == 3
    modules = [[name.partition("::")[0] for name in order] for order in orders]
    assert all(sum(one != next_ for one, next_ in pairwise(names)) == 5 for names in modules)
    assert len({tuple(dict.fromkeys(names)) for names in modules}) == 3
    one_file = tmp_path / "test_c.py"
    monkeypatch.setenv(ORDER, "1")
    pytest_run.pytest_run([str(one_file)], tmp_path, tmp_path / "alone.jsonl")
    assert ran(tmp_path / "alone.jsonl") == [name for name in first if "test_c.py" in name]


@pytest.mark.parametrize("seed", ["abc", "-1", "\u0663", "1.5"])
def test_a_seed_is_a_number(
    tmp_path: Path, seed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ORDER, seed)
    monkeypatch.setattr("sys.argv", ["run_tests", "unit"])
    assert run_tests.main() == 2
    said = f"{ORDER}={seed}: a seed is a number, such as 7\n"
    assert capsys.readouterr().err == said
    cases = pytest_run.pytest_run([str(tmp_path)], tmp_path, tmp_path / "records.jsonl")
    assert said in cases.output
    assert cases.failed == {"pytest": "pytest ended with exit code 4"}


def test_in_random_order_nothing_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ORDER, "1")
    runs = Runs(monkeypatch, some_failed("chance"), Cases(0, passed={"chance"}))
    assert counts(suite(ENGINES)) == (1, 1, 1, False)
    assert runs.left == 1


@pytest.mark.parametrize("end", ["import os; os._exit(0)", "import pytest; pytest.exit('bye', returncode=0)"])
def test_a_run_that_ends_before_its_tests_has_failed_once_and_is_named(
    tmp_path: Path, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_some.py").write_text(
        f"def test_fine(): pass\ndef test_ends(): {end}\ndef test_broken(): assert 0\n"
    )
    result = suite(Part("swarm", (str(tmp_path),), 1, 1))
    assert counts(result) == (1, 1, 0, False)
    assert close([result], 1.0, 1.0) == 1
    printed = capsys.readouterr().out
    assert "\nFAILED in part swarm: " in printed
    told = printed.partition("FAILED in part swarm: ")[2].splitlines()[0]
    assert "test_some.py::test_ends: " in told
    assert told.endswith("the process ended before pytest did, with exit code 0; 1 test never ran")


@pytest.mark.parametrize("target", ["test", "test-all", "test-unit", "test-web"])
def test_make_runs_tests_so_that_their_end_is_noticed(target: str) -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition(f"\n{target}: ")[2].partition("\n\n")[0]
    assert "-m scripts.run_tests" in recipe


class Runs:
    """Stands in for runs of pytest: what each of them gives, in turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *cases: Cases) -> None:
        self._cases = list(cases)
        monkeypatch.setattr(run_tests, "pytest_run", lambda *_: self._cases.pop(0))

    @property
    def left(self) -> int:
        return len(self._cases)


def some_failed(*names: str) -> Cases:
    return Cases(SOME_FAILED, passed={"fine"}, failed=dict.fromkeys(names, "assert False"), skips=Counter("s"))


def test_what_fails_twice_has_failed_and_is_named_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Runs(monkeypatch, some_failed("broken", "chance"), Cases(SOME_FAILED, passed={"chance"}, failed={"broken": ""}))
    result = suite(ENGINES)
    assert counts(result) == (2, 1, 1, False)
    result.failed["broken"] = f"def test_a():\n>   assert 0\n  | E    {'long' * 1000}\n" + "E   more\n" * 100
    assert close([result], 1.0, 1.0) == 1
    _, _, told = capsys.readouterr().out.partition("\nFAILED in part swarm: broken\n      | E    longlong")
    assert told.count("E   more") == REASON_LINES_MAX - 1
    assert len(told) < 2000


def test_programs_that_outlive_their_part_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert close([Result("cli", passed=1), Result("web", passed=1, outlived=["sleep 600"])], 1.0, 1.0) == 0
    assert "\nprograms that outlived the tests of their part:\n  web: sleep 600\n" in capsys.readouterr().out


def test_a_run_that_is_interrupted_says_so(tmp_path: Path) -> None:
    """Also one that a shell began in the background, where Ctrl-C is ignored."""
    program = (
        "import signal, sys; from pathlib import Path; from scripts import run_tests\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"run_tests.ROOT = Path({str(tmp_path)!r}); run_tests.RECORDS = run_tests.ROOT / 'records'\n"
        "run_tests.run = lambda _: (print('up', flush=True), signal.pause())\n"
        "sys.exit(run_tests.main())"
    )
    begun = subprocess.Popen(
        [sys.executable, "-c", program, "cli"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert begun.stdout is not None
    assert begun.stdout.readline() == "up\n"
    begun.send_signal(signal.SIGINT)
    assert begun.communicate(timeout=60) == ("\ninterrupted\n", "")
    assert begun.returncode == 130


def test_a_pause_of_the_machine_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert close([Result("unit", passed=1)], 1.0, 1.0, ["nothing ran for 372 s before 20:14:03"]) == 0
    assert "which fails tests that are right:\n  nothing ran for 372 s before 20:14:03\n" in capsys.readouterr().out


def test_what_is_the_same_each_time_gets_no_second_try(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch, some_failed("chance"), Cases(0, passed={"chance"}))
    assert counts(suite(SEEDED)) == (1, 1, 1, False)
    assert runs.left == 1


def test_many_failures_are_no_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"chance_{number}" for number in range(SECOND_TRIES_MAX + 1)]
    runs = Runs(monkeypatch, some_failed(*many), Cases(0, passed=set(many)))
    assert counts(suite(ENGINES)) == (1, SECOND_TRIES_MAX + 1, 1, False)
    assert runs.left == 1


@pytest.mark.parametrize(("strict", "code"), [("0", 0), ("1", 1)])
def test_a_strict_run_fails_on_a_second_try(
    strict: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZOE_STRICT", strict)
    run_tests.KNOWN_SECOND_TRIES.write_text("| `test_chance` | once |", "utf-8")
    result = Result("swarm", passed=1, second_try={"tests/test_a.py::test_chance[1]": "E  assert False"})
    assert close([result], 1.0, 1.0) == code
    printed = capsys.readouterr().out
    assert "test_chance[1] (listed)\n      | E  assert False" in printed
    but = " (1 at the second try only: ZOE_STRICT=1 counts that as failed)" if code else ""
    assert printed.endswith(f"\n1 passed{but}, 0 failed, 0 skipped\n")


def test_results_stand_in_the_order_of_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    Runs(monkeypatch, Cases(0), Cases(0))
    short, long = Part("short", (), 1, 1), Part("long", (), 2, 1)
    assert [result.name for result in run([short, long])] == ["short", "long"]
