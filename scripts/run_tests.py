"""Run every part of the tests; at the end, print a table of times, and everything that was skipped, with the reason.

With ZOE_REQUIRE_ALL=1 a missing program fails instead of being skipped; a missing privilege or absent ZOE_TEST_DATA
stays a named skip. A few failed tests of a part get a second try, except in deterministic parts; tests that then pass
are named with their output (docs/decisions/0027-a-second-try-for-tests-of-real-programs.md), and fail the run with
ZOE_STRICT=1. ZOE_RANDOM_ORDER=SEED runs the tests of each part in the order of that seed, once. The records of the
last run stay in .test-records, for `make test-times`.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from scripts.part_schedule import PartSchedule, run_beside
from scripts.parts import PARTS, Part
from scripts.pytest_order import ORDER, wrong_order
from scripts.pytest_run import PROGRESS_S, ROOT, SOME_FAILED, Cases, progress, pytest_run
from scripts.standstills import Standstills

BIN = Path(sys.executable).parent
RECORDS = ROOT / ".test-records"
KNOWN_SECOND_TRIES = ROOT / "docs" / "second-tries.md"
CTRL_C = 130
"""The exit code of shells for it."""
# More failures in one part have a common cause.
SECOND_TRIES_MAX = 3
REASON_LINES_MAX, REASON_CHARACTERS_MAX = 8, 400
# Lines in which pytest says why, also in groups of exceptions.
_REASON = re.compile(r"[ |+]*E  ")
LONG_ENVIRONMENT = {"ZOE_PROPERTY_CHECKS": "100000", "ZOE_TEST_TRACES": "all"}
LINT = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports"],
    ["python", "scripts/web.py", "check"],
)
LINT_PART = Part("lint", (), 30, 1.0)
ALL = {part.name: part for part in (LINT_PART, *PARTS)}


@dataclass
class Result:
    """The result of one part."""

    name: str
    seconds: float = 0.0
    cpu_s: float = 0.0
    group_cpu_s: float | None = None
    passed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """Tests that failed, with the output."""
    untold: dict[str, str] = field(default_factory=dict)
    """Those of them whose failure pytest's own output does not name, with a sentence."""
    skips: Counter[str] = field(default_factory=Counter)
    second_try: dict[str, str] = field(default_factory=dict)
    """Tests that passed only at the second try, with the output of the first."""
    outlived: list[str] = field(default_factory=list)
    """Programs that still ran at its end."""
    ok: bool = True


def main() -> int:
    """Run all parts, or those named on the command line, with --all the long variants; return 0 only if all passed."""
    chosen = sys.argv[1:] or list(ALL)
    if chosen == ["--all"]:
        os.environ.update(LONG_ENVIRONMENT)
        chosen = list(ALL)
    unknown = [name for name in chosen if name not in ALL]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(ALL)}", file=sys.stderr)
        return 2
    if wrong := wrong_order():
        print(wrong, file=sys.stderr)
        return 2
    lock = (ROOT / ".test-records.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("another run of the tests is under way in this clone", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _end_all)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored by what it begins with `&`
    if os.environ.get(ORDER):
        print(f"tests in the order of {ORDER}={os.environ[ORDER]}; nothing is tried twice", flush=True)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # otherwise hundreds of processes would compile what they import
    began_s, cpu_s = time.monotonic(), machine_cpu_s()
    shutil.rmtree(RECORDS, ignore_errors=True)
    RECORDS.mkdir()
    try:
        with Standstills() as stood_still:
            results = run([ALL[name] for name in chosen])
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
        return CTRL_C
    return close(results, time.monotonic() - began_s, machine_cpu_s() - cpu_s, stood_still.found)


def _end_all(_number: int, _frame: object) -> None:
    """End like Ctrl-C at a terminal, which reaches every pytest: they clean up what they have started."""
    for child in psutil.Process().children():
        child.send_signal(signal.SIGINT)
    raise KeyboardInterrupt


def run(parts: list[Part]) -> list[Result]:
    """Run all parts, in parallel as far as they fit; return the results in the order of the parts."""
    schedule, done = PartSchedule(parts, os.cpu_count() or 1), threading.Event()
    progress = threading.Thread(target=_tell_progress, args=(schedule, done))
    progress.start()
    try:
        results = run_beside(schedule, len(parts), lambda part: lint() if part is LINT_PART else suite(part))
    finally:
        done.set()
        progress.join()
    names = [part.name for part in parts]
    return sorted(results, key=lambda result: names.index(result.name))


def lint() -> Result:
    """Run ruff, mypy, import-linter, and the checks of the web UI; each counts as one test."""
    result, began_s, output = Result("lint"), time.monotonic(), ""
    for command in LINT:
        done = subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        result.passed += done.returncode == 0
        if done.returncode != 0:
            result.failed[" ".join(command)] = done.stdout
        output += done.stdout
    result.ok, result.seconds = not result.failed, time.monotonic() - began_s
    say(f"lint ({result.seconds:.0f} s)\n{output}")
    return result


def suite(part: Part) -> Result:
    """Run a part with pytest; print its output at its end."""
    result, began_s = Result(part.name), time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        records = _records(part.name)
        cases = pytest_run(part.arguments, Path(directory), records)
        say(f"{part.name} ({time.monotonic() - began_s:.0f} s)\n{cases.output}")
        if deserves_second_try(part, cases):
            again = pytest_run(["--last-failed", *part.arguments], Path(directory), records.with_suffix(".again"))
            say(f"{part.name}: what failed, again\n{again.output}")
            cases.outlived += again.outlived
            result.second_try = {test: said for test, said in cases.failed.items() if test in again.passed}
    failed = {test: said for test, said in cases.failed.items() if test not in result.second_try}
    result.passed, result.skips = len(cases.passed) + len(result.second_try), cases.skips
    result.ok = (cases.exit_code == 0 and not cases.failed) or (bool(result.second_try) and not failed)
    result.failed, result.untold = failed, cases.untold
    result.outlived = cases.outlived
    result.seconds, result.cpu_s, result.group_cpu_s = time.monotonic() - began_s, cases.cpu_s, cases.group_cpu_s
    return result


def _records(name: str) -> Path:
    return RECORDS / f"{name.replace(' ', '-')}.jsonl"


def deserves_second_try(part: Part, cases: Cases) -> bool:
    """Return whether chance may be the reason: few tests failed, of a part with processes, sockets or random keys.

    In random order, what an earlier test left may be the reason, which a try without that test would hide.
    """
    few = cases.exit_code == SOME_FAILED and not cases.broken and 0 < len(cases.failed) <= SECOND_TRIES_MAX
    return few and not part.seeded and not os.environ.get(ORDER)


def close(results: list[Result], took_s: float, cpu_s: float, stood_still: Sequence[str] = ()) -> int:
    """Print the closing table; return the exit code."""
    print(f"\n{'part':<16}{'seconds':>9}{'CPU s':>9}{'with all':>9}{'passed':>9}{'failed':>9}{'skipped':>9}")
    for one in sorted(results, key=lambda result: -result.seconds):
        counts = f"{one.passed:9}{len(one.failed):9}{one.skips.total():9}"
        with_all = "" if one.group_cpu_s is None else f"{one.group_cpu_s:.1f}"
        print(f"{one.name:<16}{one.seconds:9.1f}{one.cpu_s:9.1f}{with_all:>9}{counts}")
    reasons: Counter[str] = sum((one.skips for one in results), Counter())
    if reasons:
        print("\nskipped:")
        for reason, count in sorted(reasons.items()):
            print(f"  {count:4} x {reason}")
    second = {test: said for one in results for test, said in one.second_try.items()}
    _name_second_tries(second)
    for one in results:
        _name_failed(one)
    outlived = [f"{one.name}: {command}" for one in results for command in one.outlived]
    if outlived:
        print("\nprograms that outlived the tests of their part:", *outlived, sep="\n  ")
    passed, failed = sum(one.passed for one in results), sum(len(one.failed) for one in results)
    if stood_still:
        print(
            "\nthe machine stood still or its clock was set, which fails tests that are right:",
            *stood_still,
            sep="\n  ",
        )
    print(f"\n{took_s:.0f} s in all, {cpu_s:.0f} CPU s of this machine")
    strict = os.environ.get("ZOE_STRICT") == "1" and len(second)
    but = f" ({strict} at the second try only: ZOE_STRICT=1 counts that as failed)" if strict else ""
    print(f"{passed} passed{but}, {failed} failed, {reasons.total()} skipped")
    return 0 if all(one.ok for one in results) and not strict else 1


def _name_failed(part: Result) -> None:
    """Say once more what failed, since the output of the parts is long, and who shows it may cut it."""
    for test, output in part.failed.items():
        told = f"FAILED in part {part.name}: {test}"
        if test in part.untold:
            print(f"\n{told}: {part.untold[test]}")
            continue
        lines = output.splitlines()
        why = [line for line in lines if _REASON.match(line)] or lines[-REASON_LINES_MAX:]
        print(f"\n{told}", *(line[:REASON_CHARACTERS_MAX] for line in why[:REASON_LINES_MAX]), sep="\n    ")


def _name_second_tries(second: dict[str, str]) -> None:
    if not second:
        return
    known = KNOWN_SECOND_TRIES.read_text("utf-8") if KNOWN_SECOND_TRIES.exists() else ""
    print("\npassed at the second try only, each a defect to find (docs/second-tries.md):")
    for test, said in second.items():
        listed = "listed" if test.rpartition("::")[2].partition("[")[0] in known else "NOT LISTED YET"
        print(f"  {test} ({listed})", *said.splitlines(), sep="\n      | ")


def _tell_progress(schedule: PartSchedule, done: threading.Event) -> None:
    """Print once a minute what runs, how many of its tests have ended, and which test takes long."""
    while not done.wait(PROGRESS_S):
        print(f"... {', '.join(f'{name} {progress(_records(name))}' for name in schedule.running)}", flush=True)


def machine_cpu_s() -> float:
    """Return the CPU seconds that all processes of this machine have used since it started."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def say(text: str) -> None:
    """Print the result of a part."""
    print(f"\n=== {text.rstrip()}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
