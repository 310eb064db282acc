"""One slice of tier 2, chosen by the number of commits: every file has its turn though nothing is remembered.

The files of tier 2 stand in a fixed order in which those of one part, which share engines, a store or a browser,
are neighbours. This order is cut into eight bins of equal cost. The number of commits, by first parents, chooses the
bin, and where in it the slice begins, so that files which the time cut off come first when the bin returns.

`python -m scripts.testing.slices [COUNT]` runs one for 8 minutes. A test that fails runs again: only a failure that
repeats fails the slice, and a line for `tests/quarantine.toml` is printed for the others.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from scripts.testing.costs import ROOT, Costs
from scripts.testing.parts import PARTS, part_of
from scripts.testing.run import close, run, running_alone, selected

BINS = 8
MINUTES = 8.0
_TURN = (5**0.5 - 1) / 2
"""The golden ratio: multiples of it, modulo 1, are spread evenly, however many there are."""


def main() -> int:
    """Run the slice of a number of commits; by default, of those of this clone."""
    count = int(sys.argv[1]) if sys.argv[1:] else commits()
    files = slice_of(Costs.read().of_tier(2), count)
    print(f"slice {count % BINS + 1} of {BINS}, from {files[0]} on, for {MINUTES:.0f} minutes", flush=True)
    with running_alone():
        results = run(selected(files, 2), 2, until=time.time() + 60 * MINUTES)
        failed = sorted(test for one in results for test in one.cases.failed if "::" in test)
        if failed and not any(one.cases.broken for one in results):
            again = run(selected(failed, 0), 0, until=time.time() + 60 * MINUTES)
            passed = {test for one in again for test in one.cases.passed}
            for one in results:
                one.cases.failed = {test: said for test, said in one.cases.failed.items() if test not in passed}
            for test in sorted(passed):
                line = f'"{test}" = {{ since = {datetime.now(UTC).date()}, known = "passed when it ran again" }}'
                print(f"passed only when it ran again; add to tests/quarantine.toml:\n  {line}")
    return close(results)


def commits() -> int:
    """Return the number of commits by first parents."""
    command = ["git", "rev-list", "--count", "--first-parent", "HEAD"]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def slice_of(costs: Mapping[str, float], count: int) -> list[str]:
    """Return the files of one slice in the order in which they run: `costs` holds all of tier 2, in CPU seconds."""
    chosen = bins(costs)[count % BINS]
    begin = count // BINS * _TURN % 1 * sum(costs[file] for file in chosen)
    before = 0.0
    for number, file in enumerate(chosen):
        if before + costs[file] > begin:
            return [*chosen[number:], *chosen[:number]]
        before += costs[file]
    return chosen


def bins(costs: Mapping[str, float]) -> list[list[str]]:
    """Return all files in BINS lists of about equal cost, neighbours together."""
    numbers = {part.name: number for number, part in enumerate(PARTS)}
    whole, before, cut = sum(costs.values()), 0.0, [list[str]() for _ in range(BINS)]
    for file in sorted(costs, key=lambda file: (numbers[part_of(file).name], file)):
        cut[min(int((before + costs[file] / 2) / whole * BINS), BINS - 1)].append(file)
        before += costs[file]
    return cut


def reached(files: Sequence[str], costs: Mapping[str, float], seconds: float) -> list[str]:
    """Return the files that a slice completes if it has CPU seconds for so much."""
    done, before = [], 0.0
    for file in files:
        before += costs[file]
        if before > seconds:
            break
        done.append(file)
    return done


if __name__ == "__main__":
    sys.exit(main())
