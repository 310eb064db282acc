"""The parts of the tests, and what each needs of the machine, so that the runner can run parts in parallel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Part:
    """Tests that run in one process of pytest.

    `seconds` and `cores` are what the part takes alone on two quiet cores (docs/tests.md); they decide only when it
    runs. Of parts with the same `uses`, one runs at a time. A `quiet` part measures rates, which are far below what a
    core can move, and runs in parallel only with other quiet ones.
    """

    name: str
    arguments: tuple[str, ...]
    seconds: float
    cores: float
    uses: Literal["", "engines", "browser"] = ""
    quiet: bool = False
    seeded: bool = False
    """Its seeds make it deterministic: what fails there fails again."""


BANDWIDTH = tuple(f"tests/storage/test_{name}.py" for name in ("bandwidth", "s3"))
CONTROLLER = tuple(f"tests/storage/test_{name}.py" for name in ("controller", "kills"))

PARTS = (
    Part("unit", ("tests/unit",), 45, 0.9),
    Part("properties", ("tests/properties",), 35, 1.0, seeded=True),
    Part("simulation", ("tests/simulation",), 22, 1.0, seeded=True),
    Part("traces", ("tests/traces",), 20, 1.0, seeded=True),
    Part("contract", ("tests/contract",), 110, 0.3),
    Part("migration", ("tests/migration",), 8, 0.5),
    Part("local back-end", ("tests/local",), 60, 0.3),
    Part("swarm", ("tests/swarm",), 350, 0.7, uses="engines"),
    Part("compose", ("tests/compose",), 120, 0.5, uses="engines"),
    Part("storage", ("tests/storage", *(f"--ignore={path}" for path in BANDWIDTH + CONTROLLER)), 190, 0.8),
    Part("bandwidth", BANDWIDTH, 40, 0.3, quiet=True),
    Part("controller", CONTROLLER, 60, 0.3, quiet=True),
    Part("api", ("tests/api",), 200, 0.5),
    Part("web", ("tests/web",), 250, 0.5, uses="browser"),
    Part("cli", ("tests/cli",), 50, 0.7),
    Part("docs", ("tests/docs",), 65, 0.7),
    Part("package", ("tests/package",), 35, 0.7),
    Part("end to end", ("tests/e2e",), 200, 0.6),
    Part("demo", ("tests/demo",), 230, 1.2),
)
