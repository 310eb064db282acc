"""Check a change in seconds: lint, and the nearest cheap tests. `make test` decides.

The change is what differs from the merge base with the main branch, untracked files included; BASE=COMMIT selects
another base. With `--tier 2`, as `make test-changed`: the dear tests of what has changed, the nearest first.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from scripts.testing.costs import Costs
from scripts.testing.names import ROOT
from scripts.testing.reach import TESTED_BY, base_commit, changed_files, reached
from scripts.testing.run import close, run, running_alone, selected

CHECK_S, CHANGED_S = 25.0, 1200.0
"""CPU seconds of tests to choose, by the table of costs: they take at most this long on two cores."""
CHANGED_MINUTES = 15.0


def main() -> int:
    """Choose tests, say which, and run them."""
    tier = 2 if sys.argv[1:] == ["--tier", "2"] else 1
    changed = changed_files(os.environ.get("BASE") or base_commit())
    tests, left = chosen(changed, tier)
    print(f"{len(changed)} files changed; {len(tests)} files of tests", *(f"  {one}" for one in tests[:10]), sep="\n")
    if len(tests) > 10:
        print(f"  and {len(tests) - 10} more")
    if left:
        print(f"{left} more files of tests can be affected: `make {'test' if tier == 1 else 'test-all'}` runs them")
    if tier == 2 and not tests:
        return 0
    until = time.time() + 60 * CHANGED_MINUTES if tier == 2 else 0.0
    with running_alone():
        return close(run(selected(tests, tier) if tests else {}, tier, until, lint=tier == 1), 0)


def chosen(changed: list[str], tier: int, root: Path = ROOT) -> tuple[list[str], int]:
    """Return the test files of a tier to run, and how many more can be affected.

    For tier 1 these are unit tests alone, which need no other program; for tier 2 also tests that start the programs.
    """
    costs = Costs.read()
    of_tier, tests = costs.of_tier(tier), reached(changed, root)
    if tier == 1:
        tests = [test for test in tests if test.startswith("tests/unit/") and costs.files_of(1, [test])]
    else:
        folders = sorted({TESTED_BY[top] for path in changed if (top := path.split("/")[0]) in TESTED_BY})
        tests += sorted(test for test in of_tier if test.startswith(tuple(f"{one}/" for one in folders)))
        tests = [test for test in dict.fromkeys(tests) if test in of_tier]
    budget_s, kept = CHECK_S if tier == 1 else CHANGED_S, list[str]()
    for test in tests:
        budget_s -= of_tier.get(test, 0.0)
        if budget_s >= 0 or not kept:
            kept.append(test)
    return kept, len(tests) - len(kept)


if __name__ == "__main__":
    sys.exit(main())
