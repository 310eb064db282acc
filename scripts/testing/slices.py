"""One slice of tier 2, chosen by the number of commits: every file has its turn without any stored state.

The files of tier 2 are in a fixed order in which files of a part, which share engines, a store or a browser, are
neighbours. This order is cut into sixteen pieces of equal cost. A slice is two of them from far apart, which keep both
cores of a machine busy. The number of commits, by first parents, chooses the slice and its start in each piece, so that
files that ran out of time come first when the slice returns. Every second time, a slice runs with injected delays,
which show what else fails only under load.

`python -m scripts.testing.slices [COUNT]` runs one for 8 minutes. A test that fails runs again: only a failure that
repeats fails the slice, and a line for `tests/quarantine.toml` is printed for the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from scripts.testing.costs import Costs
from scripts.testing.parts import PARTS, ROOT, part_of
from scripts.testing.run import DELAYS, close, run, running_alone, select_tests

SLICES = 8
MINUTES = 8.0
_TURN = (5**0.5 - 1) / 2
"""The golden ratio: multiples of it, modulo 1, are spread evenly, however many there are."""


def main() -> int:
    """Run the slice of a number of commits; by default, of those of this clone."""
    count = int(sys.argv[1]) if sys.argv[1:] else commits()
    chosen = slice_of(Costs.read().of_tier(2), count)
    begin = " and ".join(files[0] for files in chosen if files)
    print(f"slice {count % SLICES + 1} of {SLICES}, from {begin} on, for {MINUTES:.0f} minutes", flush=True)
    if (seed := delays_of(count)) is not None:
        os.environ[DELAYS] = seed
        print(f"with injected delays: {DELAYS}={seed}", flush=True)
    files = [file for piece in chosen for file in piece]
    with running_alone():
        results = run(select_tests(files, 2), 2, until=time.time() + 60 * MINUTES)
        failed = sorted(test for result in results for test in result.failed if "::" in test)
        if failed and not any(result.broken for result in results):
            again = run(select_tests(failed, 0), 0, until=time.time() + 60 * MINUTES)
            passed = {test for result in again for test in result.passed}
            for result in results:
                result.failed = {test: said for test, said in result.failed.items() if test not in passed}
            for test in sorted(passed):
                line = f'"{test}" = {{ since = {datetime.now(UTC).date()}, known = "passed when it ran again" }}'
                print(f"passed only when it ran again; add to tests/quarantine.toml:\n  {line}")
    return close(results)


def delays_of(count: int) -> str | None:
    """Return the seed of injected delays: each slice has them every second time; None without."""
    return str(count) if count // SLICES % 2 else None


def commits() -> int:
    """Return the number of commits by first parents."""
    command = ["git", "rev-list", "--count", "--first-parent", "HEAD"]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def slice_of(costs: Mapping[str, float], count: int) -> list[list[str]]:
    """Return the files of one slice, two pieces in the order in which they run: `costs` has all of tier 2, in CPU s."""
    cut = pieces(costs)
    return [
        rotate(cut[number], costs, count // SLICES * _TURN % 1) for number in (count % SLICES, count % SLICES + SLICES)
    ]


def rotate(files: Sequence[str], costs: Mapping[str, float], begin: float) -> list[str]:
    """Return files in their order, from a position given as a share of their cost."""
    before = -begin * sum(costs[file] for file in files)
    for number, file in enumerate(files):
        before += costs[file]
        if before > 0:
            return [*files[number:], *files[:number]]
    return [*files]


def pieces(costs: Mapping[str, float]) -> list[list[str]]:
    """Return all files in twice as many lists of about equal cost as there are slices, neighbours together."""
    numbers = {part.name: number for number, part in enumerate(PARTS)}
    count, whole, before = 2 * SLICES, sum(costs.values()), 0.0
    cut = [list[str]() for _ in range(count)]
    for file in sorted(costs, key=lambda file: (numbers[part_of(file).name], file)):
        cut[min(int((before + costs[file] / 2) / whole * count), count - 1)].append(file)
        before += costs[file]
    return cut


if __name__ == "__main__":
    sys.exit(main())
