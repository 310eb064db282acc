"""Which tests cover which lines, and how long each takes: one run of pytest under coverage.py.

It is a pytest plugin too, which passes the running test to coverage.py. Only the process of pytest is measured:
programs that tests start do not know the test, so use `mutants --raise` for a function that runs only there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest

from scripts.testing.check import affected_tests
from scripts.testing.costs import read_records
from scripts.testing.mutants_places import Mutant

_NEAREST = 40
"""Number of test files for code that runs at import, outside of any test."""
_SETTINGS = """
[run]
relative_files = true
core = ctrace
disable_warnings = module-not-imported
source_pkgs =
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Pass the test to coverage.py."""
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        if measured is not None:
            measured.switch_context("")


def measure(root: Path, file: Path, tests: Sequence[str], packages: Sequence[str]) -> int:
    """Run these pytest arguments once; the file holds coverage, and one beside it the seconds of tests that passed."""
    with tempfile.TemporaryDirectory() as directory:
        settings, records = Path(directory, "coverage.ini"), Path(directory, "records")
        settings.write_text(_SETTINGS + "".join(f"    {package}\n" for package in packages))
        command = [
            sys.executable,
            "-m",
            "coverage",
            "run",
            f"--rcfile={settings}",
            f"--data-file={file}",
            "-m",
            "pytest",
        ]
        # Each plug-in before a module that imports it: pytest refuses to load one that is imported already.
        command += ["-q", "-p", "no:cacheprovider", "-p", "scripts.testing.plugin", f"--records={records}"]
        command += ["-p", "scripts.testing.mutants_cover", *tests]
        code = subprocess.run(command, cwd=root, check=False).returncode
        times = {
            record["test"]: record["seconds"] for record in read_records(records) if record.get("outcome") == "passed"
        }
    _times_of(file).write_text(json.dumps(times, indent=0))
    return code


def _times_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.times.json")


@dataclass
class Coverage:
    """Result of a measured run."""

    seconds: Mapping[str, float]
    lines: Mapping[str, Mapping[int, Collection[str]]]
    """Path -> line -> the tests that run it; empty for one that runs at imports only."""
    root: Path
    """The tree, whose imports determine the near tests."""

    @classmethod
    def read(cls, root: Path, file: Path) -> Coverage:
        """Return the output of `measure`."""
        data = coverage.CoverageData(str(file))
        data.read()
        lines = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
        return cls(json.loads(_times_of(file).read_text()), lines, root)

    def reaches(self, mutant: Mutant) -> bool:
        """Return whether any test runs the line, or imports it."""
        lines = self.lines.get(mutant.path, {})
        return mutant.line in lines or mutant.statement in lines

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the line, the quickest first."""
        lines = self.lines.get(mutant.path, {})
        found = set(lines.get(mutant.line, ())) or set(lines.get(mutant.statement, ()))
        if mutant.imported:
            found = {test for tests in lines.values() for test in tests}
            near = set(affected_tests([mutant.path], self.root)[:_NEAREST])
            found |= {test for test in self.seconds if test.partition("::")[0] in near}
        return sorted(found & self.seconds.keys(), key=lambda text: (self.seconds[text], text))
