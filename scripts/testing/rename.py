"""Rename tests in all tables beside them: `python -m scripts.testing.rename OLD NEW`; `''` as NEW removes the rows.

OLD and NEW are folders, files or node ids: `tests/api/test_a.py tests/api/test_b.py`, or `FILE::test_a FILE::test_b`.
"""

from __future__ import annotations

import re
import sys

from scripts.testing.costs import CAPABILITIES, EXCEPTIONS, Costs, FileCosts
from scripts.testing.gates import QUARANTINE

_LISTS = (CAPABILITIES, EXCEPTIONS, QUARANTINE)


def main() -> int:
    """Rename and print how many rows were changed; return 1 if none was."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    old, new = (one.removeprefix("./").rstrip("/") for one in sys.argv[1:])
    changed = rename(old, new)
    print(f"{changed} rows renamed" if new else f"{changed} rows removed; look at {', '.join(p.name for p in _LISTS)}")
    return int(not changed)


def rename(old: str, new: str) -> int:
    """Rename OLD, and what stands below it; return the number of changed rows. Lists keep the rows of removed tests."""
    costs, changed = Costs.read(), 0
    rows: dict[str, FileCosts] = {}
    for file, row in costs.files.items():
        renamed = renamed_id(file, old, new)
        changed += renamed != file
        dear = {}
        for name, cost_s in row.dear.items():
            to = renamed_id(f"{file}::{name}", old, new)
            changed += renamed == file and to != f"{file}::{name}"
            if to:
                dear[to.partition("::")[2]] = cost_s
        if renamed:
            rows[renamed] = FileCosts(row.fixtures, row.cheap_tests, row.cheap, dear)
    costs.files = rows
    costs.write()
    for path in _LISTS if new else ():
        text = path.read_text("utf-8")
        ids = set(re.findall(r'"(tests/[^"\n]*)"', text))
        for one in ids:
            text = text.replace(f'"{one}"', f'"{renamed_id(one, old, new)}"')
            changed += renamed_id(one, old, new) != one
        path.write_text(text, "utf-8")
    return changed


def renamed_id(test: str, old: str, new: str) -> str:
    """Return the new name of a file or node id; it as it is if OLD is not it and not above it."""
    rest = test.removeprefix(old)
    if rest == test or (rest and rest[0] not in "/:["):
        return test
    return new + rest if new else ""


if __name__ == "__main__":
    sys.exit(main())
