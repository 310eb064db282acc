"""Check a change in seconds: lint, and the unit tests that it can affect. `make test` remains the final check.

The change is what differs from the merge base with the upstream branch, uncommitted and untracked files included;
BASE=COMMIT selects another base.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

import psutil

from scripts import with_parent
from scripts.affected import PARSED, TREE, ImportGraph, NotComparable, added_or_removed, base_of, changed_files
from scripts.changed_parts import changed_parts
from scripts.pytest_run import OUTPUT_BYTES_MAX, PROGRESS_S, Cases, counted, progress, pytest_run, running

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
UNIT = "tests/unit"
LINT = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports",),
)
WEB_LINT = ("python", "scripts/web.py", "check")
WEB_SOURCES = ("web/", "docs/reference/openapi.json", "scripts/web.py")
TESTS_NAMED_MAX = FAILED_NAMED_MAX = 10
FEW_FILES, GROUPS, MANY_FILES = 4, 5, 15
"""A process of tests gets at least the first number of files, while there are fewer processes than the second, and at
most the third: it takes seconds to begin one."""
BEGIN_S = 75.0
"""How long a check begins processes of tests: a change that reaches everything would take minutes."""
RUN_PARTS = ".venv/bin/python -m scripts.run_tests"
# In one text: by names of folders on their own, the tests of this module would depend on all these.
_REACHED_BY = """
alembic:migration deploy:compose docs:docs packaging:package storage_controller:controller storage_filters:storage
storage_gateway:storage web:web zoe_api:api zoe_cli:cli zoe_client:cli zoe_simulator:simulation
"""
REACHED_BY = dict(pair.split(":") for pair in _REACHED_BY.split())
"""Folder -> the part of the tests that is most about it."""
# The slowest unit test takes seconds; a machine that does ten other things as well, a minute.
HANG_S = 300.0
EXIT_S = "60"
"""How long a process of tests may take to exit after the last one."""
INTERRUPTED, NOBODY_READS = 130, 141
"""Exit codes of shells, for Ctrl-C and for a pipe without a reader."""
_END_S = 10.0


def main() -> int:
    """Check the change against BASE, or against the base of the present work; return 0 only if all is well."""
    try:
        return check(ROOT, os.environ.get("BASE") or base_of(ROOT))
    except NotComparable as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS


def end_by_signals() -> None:
    """Let SIGTERM end this like Ctrl-C, and Ctrl-C also what a shell, which has it ignored then, began with `&`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


def check(root: Path, base: str) -> int:
    """Print what is checked, then each command's output as it ends."""
    began_s = time.monotonic()
    changed = changed_files(root, base)
    listed = {TREE} if added_or_removed(root, base) else set()
    tests = ImportGraph(root, root / PARSED, changed).affected(changed_parts(root, base, changed) | listed, UNIT)
    _say_what(base, changed, tests)
    lint = [LINT, *([(WEB_LINT,)] if _touches(changed, WEB_SOURCES) else [])]
    with tempfile.TemporaryDirectory(prefix="zoe-check-", ignore_cleanup_errors=True) as directory:
        one = Check(root, Path(directory))
        try:
            result = one.run(lint, shared_out(tests), began_s + BEGIN_S)
        except KeyboardInterrupt:
            ran = _shown(one.running())
            one.end()
            print(f"\ninterrupted{f', while {ran} ran' if ran else ''}", flush=True)
            return INTERRUPTED
        except BrokenPipeError:
            one.end()
            raise
    _name_failed(one.failed)
    told = f"{counted(one.ran, 'test') if one.ran else 'no test'} ran"
    left = f": {counted(one.left, 'file')} of tests left to `make test-unit`" if one.left else ""
    verdict = ("well so far" if left else "all well") if result else "FAILED"
    print(f"\n{verdict}{left}, {told}, {time.monotonic() - began_s:.1f} s")
    return int(not result)


class Check:
    """The commands of one check, two at a time."""

    def __init__(self, root: Path, directory: Path) -> None:
        self._root, self._directory = root, directory
        self._ended = threading.Event()
        self._futures: list[Future[bool]] = []
        self._under_way: list[str | Path] = []
        """Commands of lint, and records of tests."""
        self.ran = 0
        """How many tests have an outcome."""
        self.failed: list[str] = []
        """Tests, files of tests that could not be read, and commands of lint."""
        self.left = 0
        """How many files of tests were not begun in time."""

    def run(self, lint: Sequence[Sequence[tuple[str, ...]]], groups: list[list[str]], until_s: float) -> bool:
        """Run the commands, in each list one after the other, and the groups of tests that begin until then by the
        monotonic clock, at least the first one; return whether all is well.
        """
        progress_told = threading.Thread(target=self._tell_progress)
        progress_told.start()
        pool = ThreadPoolExecutor(2)
        try:
            checks = [partial(self._lint_all, commands) for commands in lint]
            tests = [partial(self._test, number, some, until_s) for number, some in enumerate(groups)]
            # One core begins with checks, and the other one with the nearest tests; the first that is free goes on.
            # All checks run, and tests only until then, so these come last.
            self._futures = [pool.submit(one) for one in (*checks[:1], *tests[:1], *checks[1:], *tests[1:])]
            return not {one.result() for one in self._futures} - {True}
        finally:
            self._ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            progress_told.join()

    def running(self) -> str:
        """Return the tests that run now, or ran when Ctrl-C ended their processes as well."""
        return ", ".join(filter(None, map(running, sorted(self._directory.glob("*.jsonl")))))

    def end(self) -> None:
        """End like Ctrl-C at a terminal, which reaches every process: tests clean up what they have started."""
        for number in (signal.SIGINT, signal.SIGKILL):
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.send_signal(number)
            with contextlib.suppress(KeyboardInterrupt):  # the second Ctrl-C waits no longer
                # One that was cancelled before it began would never count as done.
                wait([one for one in self._futures if not one.cancelled()], _END_S)

    def _tell_progress(self) -> None:
        while not self._ended.wait(PROGRESS_S):
            told = [f"tests {progress(one)}" if isinstance(one, Path) else one for one in [*self._under_way]]
            print(_shown(f"... {', '.join(told)}"), flush=True)

    @contextlib.contextmanager
    def _is_under_way(self, one: str | Path) -> Iterator[None]:
        self._under_way.append(one)
        try:
            yield
        finally:
            self._under_way.remove(one)

    def _test(self, number: int, tests: list[str], until_s: float) -> bool:
        if self._ended.is_set():
            return False
        began_s = time.monotonic()
        if number and began_s > until_s:
            self.left += len(tests)
            return True
        records = self._directory / f"{number}.jsonl"
        directory = self._directory / str(number)
        with self._is_under_way(records):
            arguments = ["--continue-on-collection-errors", *tests]
            cases = pytest_run(arguments, directory, records, root=self._root, hang_s=HANG_S, exit_s=EXIT_S)
        self.ran += sum("::" in test for test in cases.passed | cases.failed.keys())
        self.failed += sorted(cases.failed)
        self._say(f"pytest {' '.join(tests[:2])}{' ...' if len(tests) > 2 else ''}", began_s, _told(cases))
        return cases.exit_code == 0 and not cases.failed

    def _lint_all(self, commands: Iterable[tuple[str, ...]]) -> bool:
        """Run one after the other, also after one that fails."""
        return not {self._lint(command) for command in commands} - {True}

    def _lint(self, command: tuple[str, ...]) -> bool:
        if self._ended.is_set():
            return False
        began_s = time.monotonic()
        # Without bytecode, each process compiles what it imports.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        name = " ".join(command)
        with self._is_under_way(name):
            done = subprocess.run(
                [sys.executable, "-S", with_parent.__file__, str(BIN / command[0]), *command[1:]],
                cwd=self._root, check=False, env=env,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
        self._say(name, began_s, done.stdout[-OUTPUT_BYTES_MAX:])
        self.failed += [name] if done.returncode else []
        return done.returncode == 0

    def _say(self, name: str, began_s: float, output: str) -> None:
        if not self._ended.is_set():
            print(_shown(f"\n=== {name} ({time.monotonic() - began_s:.1f} s)\n{output.strip()}"), flush=True)


def _told(cases: Cases) -> str:
    return "\n".join([cases.output, *(f"FAILED {test}: {said}" for test, said in cases.untold.items())])


def _name_failed(failed: list[str]) -> None:
    """Say once more what failed: what each process printed may stand far above."""
    if failed:
        more = len(failed) - FAILED_NAMED_MAX
        named = [*map(_shown, failed[:FAILED_NAMED_MAX]), *([f"and {more} more"] if more > 0 else [])]
        print("\nfailed:", *named, sep="\n  ")


def _say_what(base: str, changed: set[str], tests: list[str]) -> None:
    differ = f"{counted(len(changed), 'file')} differ{'s' if len(changed) == 1 else ''} from {base[:12]}"
    if tests:
        print(f"{differ}; {'it' if len(changed) == 1 else 'they'} can reach {counted(len(tests), 'file')} of {UNIT}:")
        named = [*map(_shown, tests[:TESTS_NAMED_MAX]), *(["..."] if len(tests) > TESTS_NAMED_MAX else [])]
        print(*(f"  {test}" for test in named), sep="\n")
    else:
        print(f"{differ}; no unit test reaches {'it' if len(changed) == 1 else 'them'}")
    parts = sorted({REACHED_BY[top] for path in changed if (top := path.split("/")[0]) in REACHED_BY})
    if parts:
        print(f"{'others may, too' if tests else 'others may'}: {RUN_PARTS} {' '.join(parts)}")
    elsewhere = sorted({path.split("/")[1] for path in changed if path.startswith("tests/") and path.count("/") > 1})
    elsewhere = [_shown(name) for name in elsewhere if name not in ("unit", "support")]
    if elsewhere:
        print(f"not run here, and changed: {', '.join(f'tests/{name}' for name in elsewhere)}")


def _shown(text: str) -> str:
    """Return a text as a terminal can show it: names of files need not be UTF-8."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def _touches(changed: set[str], prefixes: tuple[str, ...]) -> bool:
    return any(path.startswith(prefixes) for path in changed)


def shared_out(tests: list[str]) -> list[list[str]]:
    """Return the files of tests in groups for one process each, in their order.

    A process says what failed when it ends, so of many files the nearest have one of their own.
    """
    near = FEW_FILES if len(tests) > FEW_FILES * GROUPS else 0
    count = len(tests) - near
    groups = min(_ceil(count, FEW_FILES), max(GROUPS, _ceil(count, MANY_FILES)))
    size = _ceil(count, groups) if groups else 1
    nearest = [tests[:near]] if near else []
    return [*nearest, *(tests[first : first + size] for first in range(near, len(tests), size))]


def _ceil(count: int, parts: int) -> int:
    return -(-count // parts)


if __name__ == "__main__":
    end_by_signals()
    sys.exit(main())
