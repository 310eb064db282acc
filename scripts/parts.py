"""The parts of the tests, and what each needs of the machine, so that the runner can put parts beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Part:
    """Tests that run in one process of pytest.

    `seconds` and `cores` are what the part takes alone on two quiet cores (docs/tests.md); they decide only when it
    runs. Of parts that share a `uses`, one runs at a time. A `quiet` part runs alone: it measures rates.
    """

    name: str
    arguments: tuple[str, ...]
    seconds: float
    cores: float
    uses: Literal["", "engines", "browser"] = ""
    quiet: bool = False
    seeded: bool = False
    """It does the same each time, by its seeds: what fails there fails again."""


BANDWIDTH = tuple(f"tests/storage/test_{name}.py" for name in ("bandwidth", "controller", "kills", "s3"))

PARTS = (
    Part("unit", ("tests/unit",), 60, 0.9),
    Part("properties", ("tests/properties",), 105, 1.0, seeded=True),
    Part("simulation", ("tests/simulation",), 35, 1.0, seeded=True),
    Part("traces", ("tests/traces",), 80, 1.0, seeded=True),
    Part("contract", ("tests/contract",), 100, 0.3),
    Part("migration", ("tests/migration",), 8, 0.5),
    Part("local back-end", ("tests/local",), 60, 0.3),
    Part("swarm", ("tests/swarm",), 400, 0.7, uses="engines"),
    Part("compose", ("tests/compose",), 100, 0.5, uses="engines"),
    Part("storage", ("tests/storage", *(f"--ignore={path}" for path in BANDWIDTH)), 100, 1.0),
    Part("bandwidth", BANDWIDTH, 120, 1.0, quiet=True),
    Part("api", ("tests/api",), 200, 0.5),
    Part("web", ("tests/web",), 200, 0.8, uses="browser"),
    Part("cli", ("tests/cli",), 90, 0.9),
    Part("docs", ("tests/docs",), 40, 0.9),
    Part("package", ("tests/package",), 17, 0.9),
    Part("end to end", ("tests/e2e",), 200, 0.5),
    Part("demo", ("tests/demo",), 100, 1.5),
)
