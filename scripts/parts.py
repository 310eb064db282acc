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


# Seconds and cores, as `make test-times` prints them after a run of all parts.
TAKES = {
    "unit": (45, 0.9),
    "properties": (35, 1.0),
    "simulation": (22, 1.0),
    "traces": (20, 1.0),
    "contract": (110, 0.3),
    "migration": (8, 0.5),
    "local back-end": (60, 0.3),
    "swarm": (350, 0.7),
    "compose": (120, 0.5),
    "storage": (190, 0.8),
    "bandwidth": (40, 0.3),
    "controller": (60, 0.3),
    "api": (200, 0.5),
    "web": (250, 0.5),
    "cli": (50, 0.7),
    "docs": (65, 0.7),
    "package": (35, 0.7),
    "end to end": (200, 0.6),
    "demo": (230, 1.2),
}
BANDWIDTH = tuple(f"tests/storage/test_{name}.py" for name in ("bandwidth", "s3"))
CONTROLLER = tuple(f"tests/storage/test_{name}.py" for name in ("controller", "kills"))

PARTS = (
    Part("unit", ("tests/unit",), *TAKES["unit"]),
    Part("properties", ("tests/properties",), *TAKES["properties"], seeded=True),
    Part("simulation", ("tests/simulation",), *TAKES["simulation"], seeded=True),
    Part("traces", ("tests/traces",), *TAKES["traces"], seeded=True),
    Part("contract", ("tests/contract",), *TAKES["contract"]),
    Part("migration", ("tests/migration",), *TAKES["migration"]),
    Part("local back-end", ("tests/local",), *TAKES["local back-end"]),
    Part("swarm", ("tests/swarm",), *TAKES["swarm"], uses="engines"),
    Part("compose", ("tests/compose",), *TAKES["compose"], uses="engines"),
    Part("storage", ("tests/storage", *(f"--ignore={path}" for path in BANDWIDTH + CONTROLLER)), *TAKES["storage"]),
    Part("bandwidth", BANDWIDTH, *TAKES["bandwidth"], quiet=True),
    Part("controller", CONTROLLER, *TAKES["controller"], quiet=True),
    Part("api", ("tests/api",), *TAKES["api"]),
    Part("web", ("tests/web",), *TAKES["web"], uses="browser"),
    Part("cli", ("tests/cli",), *TAKES["cli"]),
    Part("docs", ("tests/docs",), *TAKES["docs"]),
    Part("package", ("tests/package",), *TAKES["package"]),
    Part("end to end", ("tests/e2e",), *TAKES["end to end"]),
    Part("demo", ("tests/demo",), *TAKES["demo"]),
)
