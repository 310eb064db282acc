"""Rename tests in all tables beside them: `python -m scripts.testing.rename OLD NEW`; `''` as NEW removes the costs.

OLD and NEW are folders, files or node ids: `tests/api/test_a.py tests/api/test_b.py`, or `FILE::test_a FILE::test_b`.
"""

from __future__ import annotations

import re
import sys

from scripts.testing.costs import CAPABILITIES, Costs, FileCosts
from scripts.testing.gates import QUARANTINE

DOORS = CAPABILITIES.with_name("doors.toml")


def main() -> int:
    """Rename and print the number of changed rows; return 1 if there were none."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    old, new = (text.removeprefix("./").rstrip("/") for text in sys.argv[1:])
    changed = rename(old, new)
    print(f"{changed} rows renamed" if new else f"{changed} rows removed; the lists of tests stay as they are")
    return int(not changed)


def rename(old: str, new: str) -> int:
    """Rename OLD, and everything below it; return the number of changed rows. Lists keep the rows of removed tests."""
    costs, rows, changed = Costs.read(), dict[str, FileCosts](), 0
    for file, row in costs.files.items():
        dear, row.dear = row.dear, {}
        if to := renamed_id(file, old, new):
            rows[to] = row
        changed += to != file
        for name, cost_s in dear.items():
            to_file, _, to_name = renamed_id(f"{file}::{name}", old, new).partition("::")
            changed += to == file and (to_file, to_name) != (file, name)
            if to_name:
                rows.setdefault(to_file, FileCosts()).dear[to_name] = cost_s
    costs.files = rows
    costs.write()
    for path in (CAPABILITIES, DOORS, QUARANTINE) if new else ():
        text = path.read_text("utf-8")
        renamed = re.sub(r'(?<=")tests/[^"\n]*(?=")', lambda found: renamed_id(found[0], old, new), text)
        changed += renamed != text
        path.write_text(renamed, "utf-8")
    return changed


def renamed_id(test: str, old: str, new: str) -> str:
    """Return the new name of a file or node id; unchanged if OLD is neither it nor above it."""
    rest = test.removeprefix(old)
    if rest == test or (rest and rest[0] not in "/:["):
        return test
    return new + rest if new else ""


if __name__ == "__main__":
    sys.exit(main())
