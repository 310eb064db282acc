"""The costs of the tests, in CPU seconds (`tests/costs.json`), and the tiers that follow from them.

`python -m scripts.testing.costs` lists the most expensive files and tests; with `update`, it first writes the medians
of the last runs (.test-records) into the table. CPU seconds are those of the test's control group, divided by the time
of a fixed loop at the same time, so runs on a busy machine are comparable.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from typing import Any

from scripts.testing.parts import ROOT, exists, part_of

TESTS = ROOT / "tests"
TABLE, CAPABILITIES = TESTS / "costs.json", TESTS / "capabilities.toml"
RECORDS = ROOT / ".test-records"
"""A folder for each of the last runs, `TIME-KIND`, of which each part has a file of records: one JSON object a line."""
CHEAP_S = 0.1
"""Tests below this are in the table as one sum for each file."""
BUDGETS_S = {1: 900.0, 2: 4000.0}
OWN_MAX_S = {"fast": 0.2}
"""The most CPU seconds of a test of tier 1, by part, and the most of its share of the fixtures of its file."""
OWN_MAX_ELSEWHERE_S = 0.5
DRIFT = 2.0
"""A run that costs more than this many times the table fails; files above it are named."""
_DRIFT_NAMED_S = 3.0
_LISTED_MAX = 25
Record = dict[str, Any]


@dataclass
class FileCosts:
    """The costs of one file of tests."""

    fixtures: float = 0.0
    """Fixtures of modules and classes."""
    cheap_tests: int = 0
    cheap: float = 0.0
    """The sum of all tests below CHEAP_S."""
    dear: dict[str, float] = field(default_factory=dict)
    """Test, without its file -> CPU seconds."""


@dataclass
class Costs:
    """The table."""

    loop_s: float
    """Seconds of the fixed loop when the table was measured."""
    shared: dict[str, dict[str, float]]
    """`PART/TIER` -> fixtures of the session, and the time of pytest itself for imports and collection (`pytest`)."""
    files: dict[str, FileCosts]
    capabilities: frozenset[str] = frozenset()

    @classmethod
    @cache
    def read(cls) -> Costs:
        """Read the table and the list of capabilities."""
        table = json.loads(TABLE.read_text("utf-8"))
        files = {name: FileCosts(**row) for name, row in table["files"].items()}
        rows = tomllib.loads(CAPABILITIES.read_text("utf-8")).values()
        return cls(table["loop_s"], table["shared"], files, frozenset(row["test"] for row in rows if "test" in row))

    def write(self) -> None:
        """Write the table, one line for each number, so that changes are easy to read."""
        files = {name: vars(row) for name, row in self.files.items()}
        table = {"loop_s": self.loop_s, "shared": self.shared, "files": files}
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", "utf-8")

    def tier(self, test: str) -> int:
        """Return 1 or 2 for a test by its node id; a test that was never measured counts as cheap."""
        dear = test in self._second or test.partition("::")[0] in self._second
        return 2 if dear and test not in self.capabilities else 1

    def files_of(self, tier: int, paths: Iterable[str]) -> list[str]:
        """Return the test files that can have tests of a tier; unmeasured tests are in tier 1."""
        named = {test.partition("::")[0] for test in self.capabilities}
        return [path for path in paths if tier == 2 or path in named or path not in self._second]

    def of_tier(self, tier: int) -> dict[str, float]:
        """Return file -> CPU seconds of its tests of a tier, with its fixtures."""
        costs = {}
        for file, row in self.files.items():
            dear = [cost_s for name, cost_s in row.dear.items() if self.tier(f"{file}::{name}") == tier]
            cheap_s = row.cheap if self.tier(f"{file}::") == tier else 0.0
            if dear or cheap_s:
                costs[file] = sum(dear) + cheap_s + row.fixtures
        return costs

    def total_s(self, tier: int) -> float:
        """Return the CPU seconds of a tier, with all fixtures and pytest itself."""
        shared = (sum(row.values()) for name, row in self.shared.items() if name.endswith(f"/{tier}"))
        return sum(self.of_tier(tier).values()) + sum(shared)

    @cached_property
    def _second(self) -> frozenset[str]:
        """Return tests and files of tier 2, by their costs alone.

        Of the cases of a test that cost CHEAP_S or more, the first shows most of the result, so the others are here. If
        the fixtures of a file cost more for each cheap test than a test of tier 1 may, all tests of the file are.
        """
        second = set[str]()
        for file, row in self.files.items():
            cheap = [name for name in sorted(row.dear) if row.dear[name] <= own_max_s(file)]
            first = {name.partition("[")[0]: name for name in reversed(cheap)}
            second |= {f"{file}::{name}" for name in row.dear if first.get(name.partition("[")[0]) != name}
            count = row.cheap_tests + len(cheap)
            if not count or row.fixtures / count > own_max_s(file):
                second.add(file)
        return frozenset(second)


def own_max_s(file: str) -> float:
    """Return the most CPU seconds that a test of this file may take in tier 1."""
    return OWN_MAX_S.get(part_of(file).name, OWN_MAX_ELSEWHERE_S)


def _by_name() -> dict[str, list[float]]:
    return defaultdict(list)


@dataclass
class MeasuredRuns:
    """CPU seconds of runs at the speed of the table: for each name, one value of each run with it."""

    tests: dict[str, list[float]] = field(default_factory=_by_name)
    fixtures: dict[str, list[float]] = field(default_factory=_by_name)
    """File -> fixtures of its modules and classes."""
    shared: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(_by_name))

    def add_run(self, folder: Path, loop_s: float) -> float:
        """Add a run by its folder of records; return its CPU seconds. `loop_s`: the fixed loop, by the table."""
        kind = folder.name.rpartition("-")[2]
        parts = sorted(folder.glob("*.jsonl"))
        return sum(self.add(f"{path.stem}/{kind}", list(read_records(path)), loop_s) for path in parts)

    def add(self, name: str, records: list[Record], loop_s: float) -> float:
        """Add the records of one process, by the name of its part and tier; return its CPU seconds."""
        loops = [record["loop_s"] for record in records if "loop_s" in record]
        speed = loop_s / median(loops) if loops else 1.0
        files, session, counted_s = defaultdict[str, float](float), defaultdict[str, float](float), 0.0
        for record in records:
            if "own_s" in record:
                if record["outcome"] != "skipped":  # it may be expensive on another machine
                    self.tests[record["test"]].append(speed * record["own_s"])
                files[record["test"].partition("::")[0]] += speed * record["shared_s"]
                for fixture, cpu_s in record["session"].items():
                    session[fixture] += speed * cpu_s
                counted_s += speed * record["own_s"]
        counted_s += sum(files.values()) + sum(session.values())
        whole_s: float = max([counted_s, *(speed * record["whole_s"] for record in records if record.get("whole_s"))])
        session["pytest"] = whole_s - counted_s
        for costs, found in ((self.fixtures, files), (self.shared[name], session)):
            for text, cpu_s in found.items():
                costs[text].append(cpu_s)
        return whole_s

    def update(self, costs: Costs) -> None:
        """Write the medians into the table; rows that are missing in these runs stay."""
        for name, rows in self.shared.items():
            if name.endswith(("/1", "/2")):  # not that of a run of chosen tests
                medians = {text: round(median(values), 1) for text, values in rows.items()}
                costs.shared[name] = {text: cpu_s for text, cpu_s in medians.items() if cpu_s > CHEAP_S}
        by_file = defaultdict[str, dict[str, float]](dict)
        for test, values in self.tests.items():
            file, _, name = test.partition("::")
            by_file[file][name] = median(values)
        for file, tests in by_file.items():
            if exists(file):
                self._update_file(file, costs.files.setdefault(file, FileCosts()), tests)

    def _update_file(self, file: str, row: FileCosts, tests: dict[str, float]) -> None:
        cheap = [cpu_s for cpu_s in tests.values() if cpu_s < CHEAP_S]
        if len(cheap) >= row.cheap_tests / 2:  # an interrupted run has few of them
            row.cheap_tests, row.cheap = len(cheap), round(sum(cheap), 2)
        others = {name: cpu_s for name, cpu_s in row.dear.items() if name not in tests}
        fixtures = round(median(self.fixtures[file]), 2)
        row.fixtures = max(fixtures, row.fixtures) if others else fixtures  # the others may use more of them
        row.dear = others | {name: round(cpu_s, 2) for name, cpu_s in tests.items() if cpu_s >= CHEAP_S}
        row.dear = {name: cpu_s for name, cpu_s in row.dear.items() if exists(f"{file}::{name}")}

    def drift(self, costs: Costs) -> Iterator[str]:
        """Yield tests and files of one run of tier 1 that cost more than the table says."""
        files, table = defaultdict[str, float](float), costs.of_tier(1)
        for test, values in self.tests.items():
            (file, _, name), cost_s = test.partition("::"), values[0]
            files[file] += cost_s
            known = test in costs.capabilities or (file in costs.files and name in costs.files[file].dear)
            if cost_s > DRIFT * own_max_s(file) and not known:
                yield f"{test} cost {cost_s:.1f}, and the table has it as cheap: `make test-costs` gives it its tier"
        for file in sorted(files, key=lambda file: -files[file]):
            cost_s = files[file] + self.fixtures[file][0]
            if cost_s > DRIFT * table.get(file, 0.0) + _DRIFT_NAMED_S:
                yield f"{file} cost {cost_s:.1f}, the table says {table.get(file, 0.0):.1f}"


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a process, even if it still runs or has crashed."""
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line.endswith("}"):  # the last one may be incomplete
            yield json.loads(line)


def main() -> int:
    """Update the table if requested, then list the most expensive tests."""
    costs = Costs.read()
    if sys.argv[1:] == ["update"]:
        measured = MeasuredRuns()
        for folder in sorted(RECORDS.glob("*-[12c]*")):  # without long forms
            measured.add_run(folder, costs.loop_s)
        measured.update(costs)
        costs.write()
    for tier, budget_s in BUDGETS_S.items():
        print(f"tier {tier}: {costs.total_s(tier):.0f} CPU s of at most {budget_s:.0f}")
        files = sorted(costs.of_tier(tier).items(), key=lambda item: -item[1])
        print(*(f"  {cpu_s:7.1f}  {file}" for file, cpu_s in files[:_LISTED_MAX]), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
