"""Run tests: without arguments tier 1, which gates; a final table lists skips, and the duration of each part.

`python -m scripts.testing.run [--tier N | --capabilities | --long] [PART or PATH ...]`

Without `--tier`, the given parts, files and tests run completely. `--tier 2` runs all that tier 1 leaves out; `--long`
runs everything with all long forms. With ZOE_REQUIRE_ALL=1 a missing program fails instead of being skipped; a missing
privilege or absent ZOE_TEST_DATA stays a named skip. Nothing is tried twice. ZOE_RANDOM_ORDER=SEED runs the tests of
each part in the order of that seed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from scripts.testing.costs import DRIFT, RECORDS, Costs, MeasuredRuns
from scripts.testing.gates import quarantined_tests
from scripts.testing.parts import BY_NAME, ROOT, Part, files_at, part_of, run_side_by_side
from scripts.testing.plugin import INTERRUPTED
from scripts.testing.session import HANG, Result, pytest_run

CTRL_C = 130
_HOURS = str(6 * 3600)
LONG_ENVIRONMENT = {"ZOE_PROPERTY_CHECKS": "100000", "ZOE_TEST_TRACES": "all", "ZOE_TEST_LONG": "1"} | {
    "PYTEST_TIMEOUT": _HOURS, HANG: _HOURS,
}  # fmt: skip
DELAYS = "ZOE_TEST_DELAYS"
"""Read by tests/support/delays.py: the seed of late ticks and transactions."""
RUNS_KEPT = 3
REASON_LINES_MAX, REASON_CHARACTERS_MAX = 8, 400
# Lines in which pytest states the reason, also in groups of exceptions.
_REASON = re.compile(r"[ |+]*E  ")
LINT = Part("lint", (), 1.0)


def main() -> int:
    """Run the tests of the command line; return 0 only if all passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tier", type=int, choices=(1, 2), default=0)
    parser.add_argument("--capabilities", action="store_true", help="only the tests of tests/capabilities.toml")
    parser.add_argument("--long", action="store_true", help="everything, with all long forms")
    parser.add_argument("chosen", nargs="*", metavar="PART or PATH")
    asked = parser.parse_args()
    if asked.long:
        os.environ.update(LONG_ENVIRONMENT)
    chosen = sorted(Costs.read().capabilities) if asked.capabilities else asked.chosen
    tier = asked.tier or int(not (chosen or asked.long))
    kind = "long" if asked.long else "chosen" if chosen else str(tier)
    quarantined_tests()  # an unreadable list stops the run before the tests
    with running_alone():
        results = run(select_tests(chosen, tier), tier, lint=not chosen and tier != 2, kind=kind)
        return close(results, kind)


def select_tests(chosen: Sequence[str], tier: int) -> dict[Part, list[str]]:
    """Return part -> files and tests to run, in the given order; all that can be of the tier without a choice."""
    parts = dict[Part, list[str]]()
    for text in chosen or ["tests"]:
        if not (tests := files_at(os.path.relpath(ROOT / text, ROOT) if text not in BY_NAME else text)):
            sys.exit(f"no such part, file of tests or test: {text!r}; parts are {', '.join(BY_NAME)}")
        for test in tests if chosen or not tier else Costs.read().files_of(tier, tests):
            parts.setdefault(part_of(test.partition("::")[0]), []).append(test)
    return parts


@contextmanager
def running_alone() -> Iterator[None]:
    """Hold the clone's lock, and end like Ctrl-C on SIGTERM, so that tests clean up."""
    with (ROOT / ".test-records.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("another run of the tests is under way in this clone")
        for number in (signal.SIGTERM, signal.SIGINT):  # a shell lets programs started with `&` ignore SIGINT
            signal.signal(number, _interrupt)
        try:
            yield
        except KeyboardInterrupt:
            print("\ninterrupted", flush=True)
            sys.exit(CTRL_C)


def _interrupt(number: int, _frame: object) -> None:
    """End, and let no further test begin: pytest continues if a clean-up raises while it is interrupted."""
    for folder in sorted(RECORDS.glob("*"))[-1:]:
        (folder / INTERRUPTED).touch()
    for child in psutil.Process().children() if number == signal.SIGTERM else ():  # a terminal sends Ctrl-C to all
        child.send_signal(signal.SIGINT)
    raise KeyboardInterrupt


def run(
    parts: dict[Part, list[str]], tier: int = 0, until: float = 0.0, lint: bool = False, kind: str = "chosen"
) -> list[Result]:
    """Run lint and all parts, the most expensive first, side by side as far as they fit; print the output of each.

    `kind` ends the name of the folder of records: the number of a whole tier, `long` or `chosen`.
    """
    folder, by_part = _new_records(kind), Counter[str]()
    for file, cost_s in (Costs.read().of_tier(tier) if tier else {}).items():
        by_part[part_of(file).name] += round(cost_s)
    options = [*([f"--tier={tier}"] if tier else []), *([f"--until={until}"] if until else [])]

    def run_part(part: Part) -> Result:
        result = run_lint() if part is LINT else pytest_run(part.name, [*options, *parts[part]], folder)
        print(f"\n=== {part.name} ({result.seconds:.0f} s)\n{result.output.rstrip()}", flush=True)
        return result

    ordered = [*sorted(parts, key=lambda part: -by_part[part.name]), *([LINT] if lint else [])]
    names = ", ".join(part.name for part in ordered)
    print(f"{names}: the output of each comes at its end, and before in {folder.relative_to(ROOT)}/*.log", flush=True)
    return run_side_by_side(ordered, os.cpu_count() or 1, run_part)


def run_lint() -> Result:
    """Run all checks that need no test."""
    began_s, command = time.monotonic(), ["make", "--no-print-directory", "lint"]
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    result = Result("lint", time.monotonic() - began_s, output=done.stdout if done.returncode else "")
    if done.returncode:
        result.failed["make lint"] = done.stdout
    else:
        result.passed.add("make lint")
    return result


def _new_records(kind: str) -> Path:
    """Return a new folder for the records of this run; those of the last runs stay, for the costs."""
    RECORDS.mkdir(exist_ok=True)
    for old in sorted(RECORDS.glob("*"))[: 1 - RUNS_KEPT or None]:
        shutil.rmtree(old, ignore_errors=True)
    folder = RECORDS / f"{time.strftime('%Y%m%dT%H%M%S')}-{kind}"
    folder.mkdir(exist_ok=True)
    return folder


def close(results: Sequence[Result], kind: str = "chosen") -> int:
    """Print the final table, and all failures and drifts; return the exit code."""
    print(f"\n{'part':<16}{'seconds':>9}{'CPU s':>9}{'passed':>9}{'failed':>9}{'skipped':>9}")
    for entry in sorted(results, key=lambda result: -result.seconds):
        cpu_s = "" if entry.cpu_s is None else f"{entry.cpu_s:.1f}"
        counts = f"{len(entry.passed):9}{len(entry.failed):9}{len(entry.skips):9}"
        print(f"{entry.name:<16}{entry.seconds:9.1f}{cpu_s:>9}{counts}")
    skips = Counter(reason for result in results for reason in result.skips.values())
    print(*(f"  {count:4} x skipped: {reason}" for reason, count in sorted(skips.items())), sep="\n")
    waived = quarantined_tests()
    failed = {test: output for result in results for test, output in result.failed.items()}
    for test, output in failed.items():
        _name_failed(test, output, test in waived)
    outlived = [f"{result.name}: {command}" for result in results for command in result.outlived]
    print(*(f"a program outlived the tests of {command}" for command in outlived), sep="\n")
    gating = len(failed.keys() - waived.keys()) + (_wrong_in_tier_1(results) if kind == "1" else 0)
    passed = sum(len(result.passed) for result in results)
    if not passed and not gating:
        print("\nno test ran: no chosen test is in this tier, or the time was over")
    print(f"\n{passed} passed, {gating} failed, {skips.total()} skipped", flush=True)
    return int(bool(gating or not passed))


def _name_failed(test: str, output: str, waived: bool) -> None:
    """Print a failure with its reason in few lines, since the output of the parts is long, and how to run it alone."""
    lines = output.splitlines()
    why = [line for line in lines if _REASON.match(line)] or lines[-REASON_LINES_MAX:]
    print(f"\n{'FAILED, in quarantine' if waived else 'FAILED'}: {test}")
    print(*(f"    {line[:REASON_CHARACTERS_MAX]}" for line in why[:REASON_LINES_MAX]), sep="\n")
    late = f"{DELAYS}={os.environ[DELAYS]} " if os.environ.get(DELAYS) else ""
    again = f"{late}.venv/bin/python -m pytest {test!r}" if test.startswith("tests/") else test
    print(f"    again: {again}" if test != "pytest" else "")


def _wrong_in_tier_1(results: Sequence[Result]) -> int:
    """Print capabilities that were not shown, and costs above the table; return how many of these gate."""
    unseen = [*missing_capabilities(results)]
    print(
        *(f"FAILED: {test} shows a capability (tests/capabilities.toml), and did not run" for test in unseen), sep="\n"
    )
    costs, measured = Costs.read(), MeasuredRuns()
    took_s, total_s = measured.add_run(sorted(RECORDS.glob("*"))[-1], costs.loop_s), costs.total_s(1)
    print(f"\ntier 1 cost {took_s:.0f} CPU s at the speed of tests/costs.json, which says {total_s:.0f}")
    print(*(f"  {line}" for line in measured.drift(costs)), sep="\n")
    if took_s > DRIFT * total_s:
        print(f"FAILED: tier 1 cost more than {DRIFT:g} times the table")
    return len(unseen) + (took_s > DRIFT * total_s)


def missing_capabilities(results: Sequence[Result]) -> list[str]:
    """Return the capabilities whose test did not run, or was skipped though everything is required."""
    ran = {test for result in results for test in result.passed | result.failed.keys()}
    if os.environ.get("ZOE_REQUIRE_ALL") != "1":
        ran |= {test for result in results for test in result.skips}
    return sorted(Costs.read().capabilities - ran)


if __name__ == "__main__":
    sys.exit(main())
