"""Runtimes that a running Zoe installs at the first use of their image.

`python -m zoe_embedded.runtimes.on_demand NAME --home DIRECTORY --runtimes DIRECTORY` installs one: it prints its
progress, and at its end one line of JSON with `path` and `environment`. What an interrupted one has downloaded stays.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from zoe_embedded.home import Home, HomeError
from zoe_embedded.runtimes import lab, mpi, runtime
from zoe_embedded.runtimes.install_progress import GROWTH
from zoe_embedded.runtimes.interpreters import PythonMissingError, RuntimeBuildError
from zoe_embedded.runtimes.jars import JarError
from zoe_embedded.runtimes.needs import NeedsError, check
from zoe_embedded.runtimes.pushdown_jar import readable_pushdown
from zoe_embedded.runtimes.runtime import Runtime
from zoe_lib.clock import SYSTEM_CLOCK, Clock

R_KERNELS = ("/usr/share/jupyter/kernels/ir", "/usr/local/share/jupyter/kernels/ir")
"""Places where Jupyter finds a kernel of R that is installed for all users."""

_LOOK_EACH_S = 10.0


@dataclass(frozen=True, slots=True)
class Installable:
    """A runtime: what it installs, for users. `hold` returns whether it is there, and keeps it while this process lives
    (PythonMissingError: it never can be); `ensure` installs it if it is missing.
    """

    what: str
    size_mb: int
    hold: Callable[[Home], bool]
    ensure: Callable[[Home], Runtime]
    spark: bool = False

    def told(self, home: Home) -> str:
        """Return what is installed with its size; the notebook beside Spark brings Spark."""
        both = self.ensure is runtime.ensure_notebook and not runtime.runtime_is_built(home)
        return f"{self.what}, about {self.size_mb + (runtime.SPARK_MB if both else 0)} MB"


INSTALLABLE: Mapping[str, Installable] = {
    "spark": Installable("Java and Spark", runtime.SPARK_MB, runtime.hold_spark, runtime.ensure_runtime, spark=True),
    "notebook": Installable(
        "Java, Spark, JupyterLab, marimo, Dask and others",
        runtime.NOTEBOOK_MB,
        runtime.hold_notebook,
        runtime.ensure_notebook,
        spark=True,
    ),
    "lab": Installable("JupyterLab, pandas and matplotlib", lab.SIZE_MB, lab.hold_lab, lab.ensure_lab),
    "mpi": Installable("MPICH and mpi4py", mpi.SIZE_MB, mpi.hold_mpi, mpi.ensure_mpi),
}
IMAGES = {"zoe/spark": "spark", "zoe/jupyter-spark": "notebook", "zoe/notebook": "lab", "zoe/mpi": "mpi"}
"""Image -> the runtime that replaces it."""


class OnDemand:
    """The runtimes of a home: those that are there, which stay while this process lives, and the others."""

    def __init__(self, home: Home, clock: Clock = SYSTEM_CLOCK) -> None:
        self._home, self._clock = home, clock
        self.lacking: dict[str, str] = {}
        """Image -> why no Python of this machine can run it."""
        self._missing: set[str] = set()
        self._looked_s = -_LOOK_EACH_S

    def images(self) -> dict[str, dict[str, object]]:
        """Return the setting `local_images` of all that can run here, now or after its installation."""
        names = dict(IMAGES)
        if any(Path(place).is_dir() for place in R_KERNELS):
            names["zoe/jupyter-r"] = "lab"
        found = dict[str, dict[str, object]]()
        for image, name in names.items():
            try:
                found[image] = self._image(name)
            except PythonMissingError as error:
                self.lacking[image] = str(error)
        return found

    def hold_new(self) -> list[str]:
        """Hold what was installed since the last call, so that no other clone removes it; return what that is. Calls
        within ten seconds of one that looked do nothing.
        """
        now_s = self._clock.monotonic_s()
        if now_s < self._looked_s + _LOOK_EACH_S:
            return []
        self._looked_s = now_s
        done = [name for name in self._missing if INSTALLABLE[name].hold(self._home)]
        self._missing.difference_update(done)
        return [INSTALLABLE[name].what for name in sorted(done)]

    def _image(self, name: str) -> dict[str, object]:
        entry, home = INSTALLABLE[name], self._home
        if entry.hold(home):
            there = entry.ensure(home)
            return {"path": list(there.path), "environment": there.environment}
        self._missing.add(name)
        command = [sys.executable, "-m", __name__, name, f"--home={home.path}", f"--runtimes={home.runtimes}"]
        return {"install": command, "installs": entry.told(home)}


def main() -> int:
    """Install a runtime, and print it; return 1 with the reason on the last line if that fails."""
    parser = argparse.ArgumentParser(prog="python -m zoe_embedded.runtimes.on_demand", description=__doc__)
    parser.add_argument("name", choices=INSTALLABLE)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--runtimes", type=Path, required=True)
    asked = parser.parse_args()
    os.environ[GROWTH] = "1"
    home, entry = Home(asked.home, os.geteuid() == 0, asked.runtimes), INSTALLABLE[asked.name]
    try:
        if entry.spark:
            check(home)
        done = entry.ensure(home)
        if entry.spark:
            _add_pushdown(home)
    except (RuntimeBuildError, HomeError, NeedsError, OSError) as error:
        print(error, flush=True)
        return 1
    print(json.dumps({"path": done.path, "environment": done.environment}), flush=True)
    return 0


def _add_pushdown(home: Home) -> None:
    try:
        readable_pushdown(home)
    except JarError as error:
        print(f"queries of Spark will read whole objects: {error}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
