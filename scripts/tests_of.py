"""List the tests that a change of a file can affect, the nearest first: `python -m scripts.tests_of FILE...`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from scripts.affected import PARSED, ImportGraph
from scripts.check import REACHED_BY, ROOT, UNIT

_LISTED_MAX = 8


def main(arguments: Sequence[str]) -> int:
    """Print unit tests, then tests of other parts."""
    missing = [path for path in arguments if not (ROOT / path).is_file()]
    arguments = [os.path.relpath(ROOT / path, ROOT) for path in arguments]
    if missing or not arguments:
        print(
            f"give files of {ROOT}, such as zoe_lib/config.py{f'; not {missing[0]}' if missing else ''}",
            file=sys.stderr,
        )
        return 2
    graph = ImportGraph(ROOT, ROOT / PARSED)
    unit = graph.affected(arguments, UNIT)
    others = [test for test in graph.affected(arguments, "tests") if not test.startswith(f"{UNIT}/")]
    for heading, tests in (("unit tests", unit), ("tests of other parts", others)):
        more = [f"and {len(tests) - _LISTED_MAX} more"] if len(tests) > _LISTED_MAX else []
        print(f"{heading}:", *(tests[:_LISTED_MAX] + more or ["none"]), sep="\n  ")
    for folder in sorted({path.split("/", 1)[0] for path in arguments} & REACHED_BY.keys()):
        print(f"the part that is most about {folder}: {REACHED_BY[folder]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
