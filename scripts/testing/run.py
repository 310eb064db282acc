"""Run tests: without arguments tier 1, which gates; a closing table says what was skipped, and what each part took.

`python -m scripts.testing.run [--tier N | --capabilities | --long] [--minutes M] [PART or PATH ...]`

Without `--tier`, named parts, files and tests run whole. `--tier 2` runs all that tier 1 leaves out; `--long` runs
everything with all long forms. With ZOE_REQUIRE_ALL=1 a missing program fails instead of being skipped; a missing
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
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from scripts.testing.costs import INTERRUPTED, RECORDS, RUNS_KEPT, Costs, Measured, own_max_s, read_records
from scripts.testing.gates import quarantined
from scripts.testing.names import ROOT, exists
from scripts.testing.parts import BY_NAME, PARTS, Part, part_of, run_side_by_side
from scripts.testing.session import HANG, Cases, progress, pytest_run

BIN = Path(sys.executable).parent
CTRL_C = 130
_HOURS = str(6 * 3600)
LONG_ENVIRONMENT = {"ZOE_PROPERTY_CHECKS": "100000", "ZOE_TEST_TRACES": "all", "ZOE_TEST_LONG": "1"} | {
    "PYTEST_TIMEOUT": _HOURS, HANG: _HOURS,
}  # fmt: skip
DELAYS = "ZOE_TEST_DELAYS"
"""Read by tests/support/delays.py: the seed of late ticks and transactions."""
PROGRESS_S = 60.0
REASON_LINES_MAX, REASON_CHARACTERS_MAX = 8, 400
DRIFT = 2.0
"""A run that costs more than this many times the table has failed; so is a file named that does."""
_DRIFT_NAMED_S = 3.0
# Lines in which pytest says why, also in groups of exceptions.
_REASON = re.compile(r"[ |+]*E  ")
LINT = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports"],
    ["python", "-m", "scripts.testing.gates"],
    ["python", "scripts/web.py", "check"],
)


@dataclass
class Result:
    """The result of one part."""

    name: str
    seconds: float = 0.0
    cases: Cases = field(default_factory=Cases)


def main() -> int:
    """Run what the command line asks for; return 0 only if all passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tier", type=int, choices=(1, 2), default=0)
    parser.add_argument("--capabilities", action="store_true", help="only the tests of tests/capabilities.toml")
    parser.add_argument("--long", action="store_true", help="everything, with all long forms")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin no test after this time")
    parser.add_argument("chosen", nargs="*", metavar="PART or PATH")
    asked = parser.parse_args()
    if asked.long:
        os.environ.update(LONG_ENVIRONMENT)
    chosen = sorted(Costs.read().capabilities) if asked.capabilities else asked.chosen
    tier = asked.tier or int(not (chosen or asked.long))
    lint = not chosen and tier != 2
    until = time.time() + 60 * asked.minutes if asked.minutes else 0.0
    whole = bool(tier) and not chosen
    quarantined()  # a list that cannot be read is told now, not after the tests
    with running_alone():
        return close(run(selected(chosen, tier), tier, until, lint, whole), tier if whole else 0)


def selected(chosen: Sequence[str], tier: int) -> dict[Part, list[str]]:
    """Return part -> files, folders and tests to run, in the given order; all if nothing is chosen."""
    paths = [path for one in chosen for path in (BY_NAME[one].paths if one in BY_NAME else [one])]
    if not paths and tier:
        files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("**/test_*.py"))
        paths = Costs.read().files_of(tier, files)
    parts: dict[Part, list[str]] = {}
    for path in paths or [path for part in PARTS for path in part.paths]:
        try:
            part = part_of(os.path.relpath(ROOT / path, ROOT))
        except ValueError:
            part = None
        if part is None or not exists(path):
            sys.exit(f"no such part, file of tests or test: {path!r}; parts are {', '.join(BY_NAME)}")
        parts.setdefault(part, []).append(path)
    others = [path for part in PARTS for path in part.paths]  # a folder of one part may hold files of another
    return {
        part: paths + [f"--ignore={other}" for path in paths for other in others if other.startswith(f"{path}/")]
        for part, paths in parts.items()
    }


@contextmanager
def running_alone() -> Iterator[None]:
    """Hold the clone's lock, and end like Ctrl-C on SIGTERM, so that tests clean up."""
    with (ROOT / ".test-records.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("another run of the tests is under way in this clone")
        signal.signal(signal.SIGTERM, _end_all)
        signal.signal(signal.SIGINT, _interrupt)  # a shell has it ignored by what it begins with `&`
        try:
            yield
        except KeyboardInterrupt:
            print("\ninterrupted", flush=True)
            sys.exit(CTRL_C)


def _interrupt(_number: int, _frame: object) -> None:
    """End, and let no further test begin: pytest goes on if a clean-up raises while it is interrupted."""
    for records in sorted(RECORDS.glob("*"))[-1:]:
        (records / INTERRUPTED).touch()
    raise KeyboardInterrupt


def _end_all(number: int, frame: object) -> None:
    for child in psutil.Process().children():
        child.send_signal(signal.SIGINT)
    _interrupt(number, frame)


def run(
    parts: dict[Part, list[str]], tier: int = 0, until: float = 0.0, lint: bool = False, whole: bool = False
) -> list[Result]:
    """Run lint and all parts, the dearest first, side by side as far as they fit; print the output of each.

    Records of a whole tier have its number in their names, those of chosen tests a plus, and long forms `long`.
    """
    kind = str(tier) if whole else "long" if HANG in os.environ else f"{tier}+"
    records, costs = _new_records(), Costs.read()
    by_part: Counter[str] = Counter()
    for file, cost_s in (costs.of_tier(tier) if tier else {}).items():
        by_part[part_of(file).name] += round(cost_s)
    ordered = sorted(parts, key=lambda part: -by_part[part.name])
    linting = Part("lint", (), 1.0)
    running, done = set[str](), threading.Event()

    def path(name: str) -> Path:
        return records / f"{name.replace(' ', '_')}@{kind}.jsonl"

    def one(part: Part) -> Result:
        began_s = time.monotonic()
        options = [*([f"--tier={tier}"] if tier else []), *([f"--until={until}"] if until else [])]
        cases = run_lint() if part is linting else pytest_run([*options, *parts[part]], path(part.name))
        result = Result(part.name, time.monotonic() - began_s, cases)
        print(f"\n=== {part.name} ({result.seconds:.0f} s)\n{cases.output.rstrip()}", flush=True)
        return result

    def tell() -> None:
        while not done.wait(PROGRESS_S):
            print(f"... {', '.join(f'{name} {progress(path(name))}' for name in sorted(running))}", flush=True)

    telling = threading.Thread(target=tell)
    telling.start()
    try:
        return run_side_by_side([*ordered, *([linting] if lint else [])], os.cpu_count() or 1, one, running)
    finally:
        done.set()
        telling.join()


def run_lint() -> Cases:
    """Run all checks that need no test; each counts as one."""
    cases = Cases()
    for command in LINT:
        done = subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        name, output = " ".join(command), "".join(f"E  {line}\n" for line in done.stdout.splitlines())
        cases.passed |= {name} if done.returncode == 0 else set()
        cases.failed |= {name: output} if done.returncode else {}
        cases.output += done.stdout if done.returncode else ""
    return cases


def _new_records() -> Path:
    """Return a new folder for the records of this run; those of the last runs stay, for the costs."""
    RECORDS.mkdir(exist_ok=True)
    for old in sorted(RECORDS.glob("*"))[: 1 - RUNS_KEPT or None]:
        shutil.rmtree(old, ignore_errors=True)
    records = RECORDS / time.strftime("%Y%m%dT%H%M%S")
    records.mkdir(exist_ok=True)
    return records


def close(results: Sequence[Result], tier: int = 0) -> int:
    """Print the closing table, and all that failed or drifted; return the exit code."""
    print(f"\n{'part':<16}{'seconds':>9}{'CPU s':>9}{'passed':>9}{'failed':>9}{'skipped':>9}")
    for one in sorted(results, key=lambda result: -result.seconds):
        cases, cpu_s = one.cases, "" if one.cases.cpu_s is None else f"{one.cases.cpu_s:.1f}"
        counts = f"{len(cases.passed):9}{len(cases.failed):9}{len(cases.skips):9}"
        print(f"{one.name:<16}{one.seconds:9.1f}{cpu_s:>9}{counts}")
    skips = Counter(reason for one in results for reason in one.cases.skips.values())
    print(*(f"  {count:4} x skipped: {reason}" for reason, count in sorted(skips.items())), sep="\n")
    waived = quarantined()
    failed = {test: output for one in results for test, output in one.cases.failed.items()}
    for test, output in failed.items():
        _name_failed(test, output, test in waived)
    gating = failed.keys() - waived.keys()
    outlived = [f"{one.name}: {command}" for one in results for command in one.cases.outlived]
    print(*(f"a program outlived the tests of {command}" for command in outlived), sep="\n")
    unseen = [*unshown(results)] if tier == 1 else []
    print(*unseen, sep="\n")
    drifted = tier == 1 and not drift_is_small()
    passed = sum(len(one.cases.passed) for one in results)
    if not passed and not gating:
        print("\nno test ran: none of what was chosen is in this tier, or the time was over")
    print(f"\n{passed} passed, {len(gating) + len(unseen)} failed, {skips.total()} skipped", flush=True)
    return int(bool(gating or unseen or drifted or not passed))


def _name_failed(test: str, output: str, waived: bool) -> None:
    """Say what failed and why in few lines, since the output of the parts is long, and how to run it alone."""
    lines = output.splitlines()
    why = [line for line in lines if _REASON.match(line)] or lines[-REASON_LINES_MAX:]
    print(f"\n{'FAILED, in quarantine' if waived else 'FAILED'}: {test}")
    print(*(f"    {line[:REASON_CHARACTERS_MAX]}" for line in why[:REASON_LINES_MAX]), sep="\n")
    late = f"{DELAYS}={os.environ[DELAYS]} " if os.environ.get(DELAYS) else ""
    again = f"python -m pytest {test!r}" if "::" in test else test
    print(f"    again: {late}.venv/bin/{again}" if test != "pytest" else "")


def unshown(results: Sequence[Result]) -> Iterator[str]:
    """Yield the capabilities whose test did not run, or was skipped though everything is required."""
    ran = {test for one in results for test in one.cases.passed | one.cases.failed.keys()}
    if os.environ.get("ZOE_REQUIRE_ALL") != "1":
        ran |= {test for one in results for test in one.cases.skips}
    for test in sorted(Costs.read().capabilities - ran):
        yield f"FAILED: {test} shows a capability (tests/capabilities.toml), and did not run"


def drift_is_small() -> bool:
    """Compare the last run of tier 1 with the table, name files that differ, and return whether it stays below."""
    costs, measured = Costs.read(), Measured()
    took_s = sum(
        measured.add(f"{path.stem.partition('@')[0].replace('_', ' ')}/1", read_records(path), costs.loop_s)
        for path in sorted(RECORDS.glob("*"))[-1].glob("*@1.jsonl")
    )
    files = defaultdict[str, float](float)
    for test, values in measured.tests.items():
        file, _, name = test.partition("::")
        files[file] += values[0]
        known = costs.files[file].dear if file in costs.files else {}
        if values[0] > DRIFT * own_max_s(file) and name not in known and test not in costs.capabilities:
            print(f"  {test} cost {values[0]:.1f}, and the table has it as cheap: `make test-costs` gives it its tier")
    for file, values in measured.fixtures.items():
        files[file] += values[0]
    table, total_s = costs.of_tier(1), costs.total_s(1)
    print(f"\ntier 1 cost {took_s:.0f} CPU s at the speed of tests/costs.json, which says {total_s:.0f}")
    for file, cost_s in sorted(files.items(), key=lambda item: -item[1]):
        if cost_s > DRIFT * table.get(file, 0.0) + _DRIFT_NAMED_S:
            print(f"  {file} cost {cost_s:.1f}, the table says {table.get(file, 0.0):.1f}")
    return took_s <= DRIFT * total_s


if __name__ == "__main__":
    sys.exit(main())
