"""What a check says of tests that end the process, hang, leave a thread or print without end, and when it is ended."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from scripts import check, pytest_run
from scripts.parts import PARTS
from scripts.pytest_order import ORDER
from tests.support.waiting import until

BEGINS_S = 5.0
"""Longer than a process of pytest takes to begin on a busy machine."""
WAITS = "import threading\ndef wait(): threading.Event().wait()\n"
# The check of a tree without anything to lint, in a process of its own.
PROGRAM = """
import sys
from pathlib import Path
from scripts import check
check.LINT, check._END_S = (), 60.0
check.ROOT = Path(sys.argv[1])
check.end_by_signals()
sys.exit(check.main())
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check, "LINT", ())
    monkeypatch.setattr(pytest_run, "_LOOK_S", 0.1)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv(ORDER, raising=False)
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True)
    return tmp_path


def add(tree: Path, text: str) -> None:
    (tree / "tests" / "unit" / "test_some.py").write_text(text, "utf-8")


@pytest.mark.parametrize("code", [0, 1])
def test_a_test_that_ends_the_process_is_named(tree: Path, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    add(tree, f"import os\ndef test_a(): pass\ndef test_ends(): os._exit({code})\ndef test_never(): assert 0\n")
    assert check.check(tree, "HEAD") == 1
    said = f"the process ended before pytest did, with exit code {code}; 1 test never ran"
    printed = capsys.readouterr().out
    assert f"FAILED tests/unit/test_some.py::test_ends: {said}\n" in printed
    named = "\nfailed:\n  tests/unit/test_some.py::test_ends\n"
    assert re.search(named + r"\nFAILED, 2 tests ran, [\d.]+ s\n$", printed)


def test_a_test_that_hangs_is_named_with_its_stack(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "HANG_S", BEGINS_S)
    monkeypatch.setattr(check, "PROGRESS_S", 0.1)
    add(tree, f"{WAITS}def test_waits(): wait()\n")
    assert check.check(tree, "HEAD") == 1
    printed = capsys.readouterr().out
    assert "in wait\n" in printed
    assert "FAILED tests/unit/test_some.py::test_waits: it took too long\n" in printed
    assert "... tests 0/1" in printed


def test_tests_that_a_hook_begins_leave_its_repository_alone(tmp_path: Path) -> None:
    """Git names it in the hook's environment, and every git that tests begin would take it."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    names = {"GIT_DIR": str(tmp_path / ".git"), "GIT_INDEX_FILE": str(tmp_path / "index")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "lint_that_fails"],
        cwd=check.ROOT, env={**os.environ, **names}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    commits = subprocess.run(["git", "rev-list", "--all"], cwd=tmp_path, check=True, capture_output=True)
    assert (commits.stdout, (tmp_path / "index").exists()) == (b"", False)


def test_a_file_that_cannot_be_read_hides_no_other(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(tree, "import nosuch\ndef test_a(): pass\n")
    (tree / "tests" / "unit" / "test_other.py").write_text("def test_b(): pass\n")
    assert check.check(tree, "HEAD") == 1
    printed = capsys.readouterr().out
    assert "\nfailed:\n  tests/unit/test_some.py\n\nFAILED, 1 test ran, " in printed


def test_lint_that_fails_is_named_at_the_end(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "LINT", (("python", "-c", "import sys; sys.exit(3)"), ("python", "-c", "")))
    assert check.check(tree, "HEAD") == 1
    assert "\nfailed:\n  python -c import sys; sys.exit(3)\n\nFAILED, no test ran, " in capsys.readouterr().out


def test_the_minutes_line_says_how_many_have_failed(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "HANG_S", BEGINS_S)
    monkeypatch.setattr(check, "PROGRESS_S", 0.1)
    add(tree, f"{WAITS}def test_a(): assert 0\ndef test_waits(): wait()\n")
    assert check.check(tree, "HEAD") == 1
    assert "... tests 1/2, 1 failed" in capsys.readouterr().out


def test_a_hang_is_noticed_without_records(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody may have removed the directory for temporary files."""
    monkeypatch.setattr(check, "HANG_S", BEGINS_S)
    add(
        tree,
        f"{WAITS}def test_waits():\n    import sys, os\n    os.remove(RECORDS)\n    wait()\n".replace(
            "RECORDS", "next(one for one in sys.argv if one.startswith('--records=')).partition('=')[2]"
        ),
    )
    assert check.check(tree, "HEAD") == 1
    assert "FAILED pytest: it took too long" in capsys.readouterr().out


def test_a_thread_that_is_left_is_named_with_its_test(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZOE_TEST_EXIT_S", "1")
    add(tree, f"{WAITS}def test_leaves(): threading.Thread(target=wait, name='left').start()\ndef test_b(): pass\n")
    assert check.check(tree, "HEAD") == 1
    assert "FAILED tests/unit/test_some.py::test_leaves: its thread left did not end\n" in capsys.readouterr().out


def test_what_tests_print_has_a_bound(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(tree, "def test_prints():\n    print('x' * 9_000_000)\n    assert 0\n")
    assert check.check(tree, "HEAD") == 1
    printed = capsys.readouterr().out
    assert len(printed) < pytest_run.OUTPUT_BYTES_MAX + 2000
    assert "1 failed" in printed


@pytest.mark.parametrize("exists", [True, False])
def test_the_last_line_says_how_many_tests_ran(tree: Path, exists: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if exists:
        add(tree, "def test_a(): pass\n")
    assert check.check(tree, "HEAD") == 0
    assert f"\nall well, {'1 test' if exists else 'no test'} ran, " in capsys.readouterr().out


@pytest.mark.parametrize(("test", "told"), [("pass", "well so far"), ("assert False", "FAILED")])
def test_what_is_not_begun_in_time_is_left_and_told(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], test: str, told: str
) -> None:
    monkeypatch.setattr(check, "BEGIN_S", 0.0)
    for number in range(3 * check.FEW_FILES):
        (tree / "tests" / "unit" / f"test_{number}.py").write_text(f"def test_a(): {test}\n")
    assert check.check(tree, "HEAD") == int(told == "FAILED")
    left = f"{2 * check.FEW_FILES} files of tests left to `make test-unit`"
    assert f"\n{told}: {left}, {check.FEW_FILES} tests ran, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (0, []),
        (1, [1]),
        (4, [4]),
        (5, [3, 2]),
        (17, [4, 4, 4, 4, 1]),
        (40, [4, 8, 8, 8, 8, 4]),
        (331, [4] + [15] * 21 + [12]),
    ],
)
def test_files_are_shared_out_in_their_order(count: int, sizes: list[int]) -> None:
    tests = [f"test_{number}.py" for number in range(count)]
    found = check.shared_out(tests)
    assert [len(group) for group in found] == sizes
    assert [*itertools.chain(*found)] == tests


def begun(tree: Path, directory: Path) -> subprocess.Popen[str]:
    """A check in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tree)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(directory), "BASE": "HEAD"},
    )


@pytest.fixture
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a check keeps temporary files."""
    return tmp_path_factory.mktemp("left")


@pytest.fixture(params=[1])
def waiting(tree: Path, left: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A check whose tests, each in a file of its own, wait for ever."""
    text = f"{WAITS}from pathlib import Path\ndef test_waits():\n    Path('begun').touch()\n    wait()\n"
    add(tree, text)
    for number in range(1, request.param):
        (tree / "tests" / "unit" / f"test_{number}.py").write_text(text)
    process = begun(tree, left)
    try:
        until((tree / "begun").exists)
        yield process
    finally:
        process.kill()
        process.communicate()


def _terminated(pid: int, _number: int) -> None:
    os.kill(pid, signal.SIGTERM)


@pytest.mark.parametrize(
    "interrupt", [os.killpg, os.kill, _terminated], ids=["at a terminal", "the check alone", "SIGTERM"]
)
def test_ctrl_c_says_in_one_line_which_test_ran(
    waiting: subprocess.Popen[str], interrupt: Callable[[int, int], None], left: Path
) -> None:
    children = psutil.Process(waiting.pid).children()
    interrupt(waiting.pid, signal.SIGINT)
    printed = waiting.communicate(timeout=60)[0]
    assert waiting.returncode == check.INTERRUPTED
    assert printed.endswith("\n\ninterrupted, while tests/unit/test_some.py::test_waits ran\n")
    assert "Traceback" not in printed
    assert children
    assert not any(child.is_running() for child in children)
    assert [*left.iterdir()] == []


@pytest.mark.parametrize("waiting", [3 * check.FEW_FILES], indirect=True)
def test_ctrl_c_does_not_wait_for_tests_that_have_not_begun(waiting: subprocess.Popen[str]) -> None:
    """It would wait for them twice, as long as for what runs."""
    os.killpg(waiting.pid, signal.SIGINT)
    assert waiting.communicate(timeout=60)[0].endswith("::test_waits ran\n")
    assert waiting.returncode == check.INTERRUPTED


def test_without_a_reader_it_ends_without_a_word(tree: Path, left: Path) -> None:
    add(tree, "def test_a(): pass\n")
    process = begun(tree, left)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == check.NOBODY_READS
    assert [*left.iterdir()] == []


def test_a_check_that_is_killed_leaves_no_tests(waiting: subprocess.Popen[str]) -> None:
    children = psutil.Process(waiting.pid).children()
    assert children
    waiting.kill()
    until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children))


def test_nonsense_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("BASE", "nonsense")
    assert check.main() == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_no_unit_test_reaches_names_the_part_that_may(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "zoe_cli").mkdir()
    (tree / "zoe_cli" / os.fsdecode(b"\xff.py")).write_text("")
    assert check.check(tree, "HEAD") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 file differs from HEAD; no unit test reaches it\n")
    assert f"others may: {check.RUN_PARTS} cli\n" in printed


def test_names_are_printed_that_are_not_utf_8(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(tree, "def test_a(): pass\n")
    (tree / "tests" / "unit" / os.fsdecode(b"test_\xff.py")).write_text("def test_b(): pass\n")
    check.check(tree, "HEAD")  # pytest itself fails on such a name
    printed = capsys.readouterr().out
    assert printed.startswith("2 files differ from HEAD; they can reach 2 files of tests/unit:\n")
    assert "\n  tests/unit/test_\\xff.py\n" in printed


def test_the_parts_that_may_reach_a_folder_are_there() -> None:
    assert set(check.REACHED_BY.values()) <= {part.name for part in PARTS}
    assert all((check.ROOT / folder).is_dir() for folder in check.REACHED_BY)


def test_a_new_file_selects_the_tests_that_look_at_all_names(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tests" / "unit" / "test_layout.py").write_text("def test_a(): pass\n")
    (tree / "notes.txt").write_text("one")
    for arguments in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=tree, check=True)
    (tree / "notes.txt").write_text("two")
    assert check.check(tree, "HEAD") == 0
    assert "no test ran" in capsys.readouterr().out
    (tree / "notes.txt").rename(tree / "more.txt")
    assert check.check(tree, "HEAD") == 0
    assert "1 test ran" in capsys.readouterr().out
