"""Print how the last `make test` spent its time: parts, fixtures and the slowest tests, as Markdown tables.

At the end, what `scripts/parts.py` says of parts, as this run took it.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.support import machine
from scripts.parts import TAKES
from scripts.pytest_run import Record, read_records
from scripts.run_tests import RECORDS

HEAD = """# Where the seconds of the tests go

`make test`, then `make test-times`: {machine}.

Parts run beside each other, so seconds overlap; those of a part are those of its tests. A fixture's seconds count in
the test that asked for it first. CPU seconds are of the tests' own process and those for which it has waited. "With
all" has those of containers, and of processes that nobody waited for, too: the control group of the part counts
them ([what it does not see](tests.md#cpu-time-of-a-part)).

## Parts"""
FILES_HEAD = """
## Files

By what their tests took with all. A file's share of what a part starts once, such as a browser, is in the first file.
"""
FIXTURES_MAX = 25
FILES_MAX = 60
TESTS_MAX = 50


@dataclass
class Total:
    """The sum of all records with one name: count, wall and CPU seconds."""

    count: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    group_cpu_s: float | None = None
    """Of the part's control group, if there was one; for a file, while its tests ran."""
    process_s: float = 0.0
    """How long the part's process ran."""

    @property
    def cores(self) -> float:
        """Return how many cores the part kept busy, rounded up to tenths; at least one tenth."""
        return max(math.ceil(10 * self.most_cpu_s / self.process_s), 1) / 10

    @property
    def most_cpu_s(self) -> float:
        """Return the CPU seconds with all, or those of the tests' own process where nothing counted the others."""
        return self.cpu_s if self.group_cpu_s is None else self.group_cpu_s

    def add(self, record: Record) -> None:
        """Add one more record."""
        self.count += 1
        self.seconds += record["seconds"]
        self.cpu_s += record["cpu_s"]
        if "all_cpu_s" in record:
            self.group_cpu_s = (self.group_cpu_s or 0.0) + record["all_cpu_s"]


Totals = defaultdict[str, Total]


def main() -> int:
    """Print the tables; return 2 if no run has left records."""
    files = sorted(RECORDS.glob("*.jsonl"))
    if not files:
        print("no records: run `make test` first", file=sys.stderr)
        return 2
    fixtures: Totals = defaultdict(Total)
    tests: Totals = defaultdict(Total)
    modules: Totals = defaultdict(Total)
    parts: dict[str, Total] = {}
    for path in files:
        parts[path.stem] = _read(path, fixtures, tests, modules)
    print(HEAD.format(machine=machine()))
    missing = [name for name in TAKES if name.replace(" ", "-") not in parts]
    if missing:
        print(f"\nThe last run was not a whole one: it left out {', '.join(missing)}.")
    print("\n| part | times | seconds | CPU s | with all |\n|---|---|---|---|---|")
    for name, total in _longest(parts.items(), len(parts)):
        print(_row(name, total))
    print(FILES_HEAD)
    print("| file | times | seconds | CPU s | with all |\n|---|---|---|---|---|")
    for name, total in sorted(modules.items(), key=lambda item: -item[1].most_cpu_s)[:FILES_MAX]:
        print(_row(name, total))
    print("\n## Fixtures")
    _table("fixture (scope)", fixtures, FIXTURES_MAX)
    print("\n## Slowest tests")
    _table("test", tests, TESTS_MAX)
    print("\n## For `scripts/parts.py`\n```python\nTAKES = {", *_takes(parts), "}\n```", sep="\n")
    return 0


def _takes(parts: dict[str, Total]) -> Iterator[str]:
    """Yield the lines of TAKES; those of parts that this run did not have stay as they are."""
    for name, (seconds, cores) in TAKES.items():
        part = parts.get(name.replace(" ", "-"), Total())
        said = (round(part.process_s), part.cores) if part.process_s else (seconds, cores)
        yield f'    "{name}": {said},'


def _row(name: str, total: Total) -> str:
    with_all = "" if total.group_cpu_s is None else f"{total.group_cpu_s:.1f}"
    return f"| `{name}` | {total.count} | {total.seconds:.1f} | {total.cpu_s:.1f} | {with_all} |"


def _read(path: Path, fixtures: Totals, tests: Totals, modules: Totals) -> Total:
    """Add a part's fixtures, tests and files; return the part's own total."""
    part = Total()
    for record in read_records(path):
        match record:
            case {"kind": "fixture", "name": name}:
                fixtures[f"{path.stem}: {name}"].add(record)
            case {"kind": "test", "name": name}:
                tests[name].add(record)
                modules[name.partition("::")[0]].add(record)
                part.count += 1
                part.seconds += record["seconds"]
            case {"kind": "end" | "exit", "own_cpu_s": own_s, "children_cpu_s": children_s}:
                part.cpu_s += own_s + children_s
            case {"kind": "run", "seconds": seconds, "cpu_s": cpu_s}:
                part.process_s, part.group_cpu_s = seconds, cpu_s
    return part


def _table(title: str, totals: dict[str, Total], count_max: int) -> None:
    print(f"\n| {title} | times | seconds | CPU s |\n|---|---|---|---|")
    for name, total in _longest(totals.items(), count_max):
        print(f"| `{name}` | {total.count} | {total.seconds:.1f} | {total.cpu_s:.1f} |")


def _longest(totals: Iterable[tuple[str, Total]], count_max: int) -> list[tuple[str, Total]]:
    return sorted(totals, key=lambda item: -item[1].seconds)[:count_max]


if __name__ == "__main__":
    sys.exit(main())
