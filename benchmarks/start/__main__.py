"""From submission to result beside the bare program: `python -m benchmarks.start [ROW ...]`.

Both sides of a pair run one after the other, so that they meet the same load; medians are of ROUNDS pairs. The bare
side is the usual command of that framework, without Zoe's options for its JVMs.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.ranges import Table
from benchmarks.start import others, spark
from benchmarks.start.place import Place, running, seconds_of
from benchmarks.support import machine
from tests.support.postgres import make_home
from zoe_embedded.home import RUNTIMES_VARIABLE, Home
from zoe_embedded.runtimes.runtime import CLONE

ROUNDS = int(os.environ.get("ROUNDS", "7"))
Side = Callable[[Place], float | None]
_MANY = f"Spark with {spark.WORKERS} workers"
ROWS: dict[str, tuple[str, Side, str, Side]] = {
    "demo": ("the demo's job", spark.demo_here, "spark-submit local[2]", spark.demo_bare),
    "script": ("zoe run -f one_line.py", others.script_here, "python one_line.py", others.script_bare),
    "mpi": ("mpi-pi", others.mpi_here, "mpiexec.hydra", others.mpi_bare),
    "dask": ("a program over Dask", others.dask_here, "Dask's own programs", others.dask_bare),
    "notebook": ("Spark notebook to its first cell", others.notebook_here, "jupyter lab", others.notebook_bare),
    "one-node": ("Spark notebook on one node", others.one_node_here, "jupyter lab", others.notebook_bare),
    "marimo": ("marimo to its first answer", others.marimo_here, "marimo edit", others.marimo_bare),
    "elastic": ("elastic worker to its first task", others.elastic_here, "Spark's own worker", others.elastic_bare),
    "many": (_MANY, spark.many_here, "Spark's own programs", lambda place: spark.many_bare(place, spark.PLAIN)),
    "options": (_MANY, spark.many_here, "the same with Zoe's Java", spark.many_bare),
}


def main() -> int:
    """Measure the named rows, or all; print seconds and ratios."""
    chosen = sys.argv[1:] or list(ROWS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is stopped then, too
    # With it, every `zoe` would compile its own modules, as no user's does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"{machine()}; {ROUNDS} rounds")
    table = Table("start")
    directory = make_home(large=True)
    runtimes = os.environ.get(RUNTIMES_VARIABLE) or Home.find(CLONE).runtimes
    try:
        with running(Home(directory, os.geteuid() == 0, Path(runtimes))) as place:
            for name in chosen:
                title, ours, beside, theirs = ROWS[name]
                pairs = [(seconds_of(ours, place), seconds_of(theirs, place)) for _ in range(ROUNDS)]
                table.row(f"{title}, s", [value for value, _ in pairs])
                table.row(f"{beside}, s", [other for _, other in pairs])
                table.row(f"{title} / {beside}", [value / other for value, other in pairs])
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return table.close() if chosen == list(ROWS) else 0


if __name__ == "__main__":
    sys.exit(main())
