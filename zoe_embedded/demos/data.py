"""The demo's input in the user's workspace: readings, the program, and the expected result."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from zoe_embedded.home import Account
from zoe_embedded.runtimes.runtime import CLONE

_PROGRAMS = CLONE / "app_descriptions" / "programs"
ROWS = 2_000_000
PARTS = 8
SEED = 20_150_101
_USED = ("energy_report.py", "energy_report_swift.py", "energy_pseudonyms.py", "core_share.py")
_RESULTS = ("result", "swift")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Readings of smart meters below `directory`, in `parts` files, owned by the account that runs the user's
    components.
    """

    directory: Path
    owner: Account | None
    rows: int = ROWS
    seed: int = SEED
    parts: int = PARTS

    @property
    def complete(self) -> bool:
        """Return whether readings and expected result exist and have this seed and size."""
        made: bool = _generator().is_complete(self.readings, self.rows, self.seed)
        return made and self._expected_file.exists()

    def make(self, progress: Callable[[int, int], None]) -> None:
        """Create the readings, compute the result without Spark, and put the program beside them."""
        generator = _generator()
        self.directory.mkdir(parents=True, exist_ok=True)
        generator.generate(self.readings, self.rows, self.seed, progress, self.parts)
        self._expected_file.write_text(json.dumps(generator.expected_report(self.readings)))
        self.forget_result()

    def forget_result(self) -> None:
        """Remove an earlier result, so that it is never taken for a new one; refresh the program."""
        for result in _RESULTS:
            shutil.rmtree(self.directory / result, ignore_errors=True)
        for program in _USED:
            shutil.copy(_PROGRAMS / program, self.directory / program)
        if self.owner is not None:
            for path in [self.directory, *self.directory.rglob("*")]:
                os.chown(path, self.owner.uid, self.owner.gid)

    def expected_rows(self) -> list[dict[str, Any]]:
        """Return the expected rows."""
        rows: list[dict[str, Any]] = json.loads(self._expected_file.read_text())
        return rows

    def result(self, directory: str = "result") -> list[dict[str, Any]] | None:
        """Return the rows that the application wrote; None if it wrote none."""
        path = self.directory / directory / "result.json"
        return json.loads(path.read_text()) if path.exists() else None

    @property
    def readings(self) -> Path:
        """Return the directory of the CSV files."""
        return self.directory / "readings"

    @property
    def _expected_file(self) -> Path:
        return self.directory / "expected.json"


def _generator() -> ModuleType:
    """Return the generator, which belongs to the catalogue of descriptions, not to a package."""
    spec = importlib.util.spec_from_file_location("energy_data", _PROGRAMS / "energy_data.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
