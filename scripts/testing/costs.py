"""The costs of the tests, in CPU seconds (`tests/costs.json`), and the tiers that follow from them.

`python -m scripts.testing.costs` lists the dearest files and tests; with `update`, it first writes the medians of the
last runs (.test-records) into the table. CPU seconds are those of the test's control group, divided by what a fixed
loop took at the same time, so runs on a busy machine are comparable.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from typing import Any

from scripts.testing.names import ROOT, exists
from scripts.testing.parts import part_of

TESTS = ROOT / "tests"
TABLE, CAPABILITIES, EXCEPTIONS = TESTS / "costs.json", TESTS / "capabilities.toml", TESTS / "tiers.toml"
RECORDS = ROOT / ".test-records"
RUNS_KEPT = 3
INTERRUPTED = "interrupted"
"""A file beside the records of a run in which no further test is to begin."""
CHEAP_S = 0.1
"""Tests below this stand in the table as one sum for each file."""
BUDGETS_S = {1: 900.0, 2: 4000.0}
OWN_MAX_S = {"fast": 0.2}
"""The most CPU seconds of a test of tier 1, by part, and the most of its share of the fixtures of its file."""
OWN_MAX_ELSEWHERE_S = 0.5
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
    """What the fixed loop took when the table was measured."""
    shared: dict[str, dict[str, float]]
    """`PART/TIER` -> fixtures of the session, and what pytest itself takes to import and collect (`pytest`)."""
    files: dict[str, FileCosts]
    capabilities: frozenset[str] = frozenset()
    exceptions: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """Tier -> tests or files that belong to it whatever they cost -> why."""

    @classmethod
    @cache
    def read(cls) -> Costs:
        """Read the table and the lists beside it."""
        table = json.loads(TABLE.read_text("utf-8"))
        files = {name: FileCosts(**row) for name, row in table["files"].items()}
        rows = tomllib.loads(CAPABILITIES.read_text("utf-8")).values()
        shown = frozenset(row["test"] for row in rows if "test" in row)
        listed = tomllib.loads(EXCEPTIONS.read_text("utf-8"))
        exceptions = {1: listed["first"], 2: listed["second"]}
        return cls(table["loop_s"], table["shared"], files, shown, exceptions)

    def write(self) -> None:
        """Write the table, one line for each number, so that changes are easy to read."""
        files = {name: vars(row) for name, row in sorted(self.files.items())}
        table = {"loop_s": self.loop_s, "shared": self.shared, "files": files}
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", "utf-8")

    def tier(self, test: str) -> int:
        """Return 1 or 2 for a test by its node id; a test that was never measured counts as cheap."""
        file, _, name = test.partition("::")
        if test in self.capabilities:
            return 1
        for tier, listed in self.exceptions.items():
            if not listed.keys().isdisjoint({file, test, test.partition("[")[0]}):
                return tier
        own_s = self.files[file].dear.get(name, 0.0) if file in self.files else 0.0
        dear = file in self._dear_files or own_s > own_max_s(file) or test in self._later_cases
        return 2 if dear else 1

    def files_of(self, tier: int, paths: Iterable[str]) -> list[str]:
        """Return those of the test files that can have tests of a tier; unmeasured tests are in tier 1."""
        named = {test.partition("::")[0] for test in self.capabilities}
        named |= {test.partition("::")[0] for test in self.exceptions.get(1, ())}
        return [path for path in paths if (path in named or path not in self._dear_files) or tier == 2]

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
    def _later_cases(self) -> frozenset[str]:
        """All but the first of the cases of a test that cost CHEAP_S or more: the first shows most of what all show."""
        later = set()
        for file, row in self.files.items():
            seen = set[str]()
            for name in sorted(row.dear):
                function = name.partition("[")[0]
                later |= {f"{file}::{name}"} if function in seen else set()
                seen |= {function} if row.dear[name] <= own_max_s(file) else set()
        return frozenset(later)

    @cached_property
    def _dear_files(self) -> frozenset[str]:
        """Files whose fixtures cost more for each cheap test than a test of tier 1 may."""
        dear = set()
        for file, row in self.files.items():
            cheap = row.cheap_tests + sum(cost_s <= own_max_s(file) for cost_s in row.dear.values())
            if not cheap or row.fixtures / cheap > own_max_s(file):
                dear.add(file)
        return frozenset(dear)


def own_max_s(file: str) -> float:
    """Return the most CPU seconds that a test of this file may take in tier 1."""
    return OWN_MAX_S.get(part_of(file).name, OWN_MAX_ELSEWHERE_S)


@dataclass
class Measured:
    """What runs took: for each name, one value of each run that had it."""

    loops: list[float] = field(default_factory=list)
    tests: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    fixtures: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """File -> fixtures of its modules and classes."""
    shared: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def add(self, name: str, records: Iterable[Record], loop_s: float | None) -> float:
        """Add one process of a run, by the name of its part and tier; return its CPU seconds.

        `loop_s`: what the fixed loop takes at the speed at which costs are told; None for that of this run.
        """
        tests, files, session = defaultdict[str, float](float), defaultdict[str, float](float), dict[str, float]()
        loops, whole_s, test = [], 0.0, ""
        for record in records:
            match record:
                case {"kind": "begin", "name": test}:
                    tests[test] += 0.0
                case {"kind": "calibration", "cpu_s": cpu_s}:
                    loops.append(cpu_s)
                case {"kind": "call", "cpu_s": cpu_s}:
                    tests[test] += cpu_s
                case {"kind": "module end", "cpu_s": cpu_s}:
                    files[test.partition("::")[0]] += cpu_s
                case {"kind": "fixture", "name": fixture, "cpu_s": cpu_s} if "(function)" in fixture:
                    tests[test] += cpu_s
                case {"kind": "fixture", "name": fixture, "cpu_s": cpu_s} if "(session)" in fixture:
                    session[fixture.partition(" ")[0]] = cpu_s
                case {"kind": "fixture", "cpu_s": cpu_s}:
                    files[test.partition("::")[0]] += cpu_s
                case {"kind": "run", "cpu_s": float(whole_s)}:
                    pass
        self.loops += loops
        speed = 1.0 if loop_s is None or not loops else loop_s / median(loops)
        counted_s = sum(tests.values()) + sum(files.values()) + sum(session.values())
        session["pytest"] = max(whole_s - counted_s, 0.0)
        for costs, found in ((self.tests, tests), (self.fixtures, files), (self.shared[name], session)):
            for one, cpu_s in found.items():
                costs[one].append(cpu_s * speed)
        return max(whole_s, counted_s) * speed

    def update(self, costs: Costs) -> None:
        """Write the medians into the table; what these runs did not have stays."""
        costs.loop_s = costs.loop_s or median(self.loops)
        for name, rows in self.shared.items():
            if not name.endswith(("/1", "/2")):  # a run of chosen tests
                continue
            costs.shared[name] = {
                one: round(median(values), 1) for one, values in rows.items() if median(values) > CHEAP_S
            }
        by_file = defaultdict[str, dict[str, float]](dict)
        for test, values in self.tests.items():
            file, _, name = test.partition("::")
            by_file[file][name] = median(values)
        for file, tests in by_file.items():
            if not exists(file):
                continue
            row = costs.files.setdefault(file, FileCosts())
            cheap = [cpu_s for cpu_s in tests.values() if cpu_s < CHEAP_S]
            if len(cheap) >= row.cheap_tests / 2:  # a run that was cut has few of them
                row.cheap_tests, row.cheap = len(cheap), round(sum(cheap), 2)
            dear = {name: cpu_s for name, cpu_s in row.dear.items() if name not in tests}
            fixtures = round(median(self.fixtures.get(file, [0.0])), 2)
            row.fixtures = max(fixtures, row.fixtures) if dear else fixtures  # the others may use more of them
            row.dear = dear | {name: round(cpu_s, 2) for name, cpu_s in tests.items() if cpu_s >= CHEAP_S}
            row.dear = {name: cpu_s for name, cpu_s in row.dear.items() if exists(f"{file}::{name}")}


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a process, even if it still runs or has crashed."""
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            if line.endswith("}"):  # the last one may be incomplete
                yield json.loads(line)


def main() -> int:
    """Update the table if asked, then list the dearest."""
    costs = Costs.read()
    if sys.argv[1:] == ["update"]:
        measured = Measured()
        for path in sorted(RECORDS.glob("*/*[12+].jsonl")):
            measured.add(path.stem.replace("_", " ").replace("@", "/"), read_records(path), costs.loop_s or None)
        measured.update(costs)
        costs.write()
    for tier, budget_s in BUDGETS_S.items():
        print(f"tier {tier}: {costs.total_s(tier):.0f} CPU s of at most {budget_s:.0f}")
        files = sorted(costs.of_tier(tier).items(), key=lambda item: -item[1])
        print(*(f"  {cpu_s:7.1f}  {file}" for file, cpu_s in files[:_LISTED_MAX]), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
