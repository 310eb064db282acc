"""The parts of the tests, and what each needs of the machine, so that the runner can run parts in parallel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Part:
    """Tests that run in one process of pytest.

    `seconds` and `cores` are what the part takes on two cores (docs/tests.md); they decide only when it runs. Of parts
    with the same `uses`, one runs at a time. A `quiet` part measures rates, which are far below what a core can move,
    and runs in parallel only with other quiet ones.
    """

    name: str
    arguments: tuple[str, ...]
    seconds: float
    cores: float
    uses: Literal["", "engines", "browser"] = ""
    quiet: bool = False
    seeded: bool = False
    """Its seeds make it deterministic: what fails there fails again."""


# Seconds in a run of all parts, which say what begins first, and cores of parts that ran alone. `make test-times`
# prints both of the last run.
TAKES = {
    "unit": (270, 0.9),
    "properties": (104, 1.0),
    "simulation": (69, 1.0),
    "traces": (49, 1.0),
    "contract": (718, 0.3),
    "migration": (54, 0.5),
    "local back-end": (437, 0.3),
    "swarm": (1379, 0.7),
    "compose": (165, 0.5),
    "storage": (1440, 0.8),
    "bandwidth": (43, 0.3),
    "controller": (59, 0.3),
    "api": (1685, 0.5),
    "web": (977, 0.5),
    "cli": (324, 0.7),
    "docs": (220, 0.7),
    "package": (93, 0.7),
    "end to end": (697, 0.6),
    "demo": (331, 1.2),
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
