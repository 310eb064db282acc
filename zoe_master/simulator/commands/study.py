"""`zoe-sim study`: compare policies on seeded workloads; it goes on where it was left, and writes tables."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import structlog

from zoe_master.simulator.commands.arguments import positive
from zoe_master.simulator.study.cells import PARTS, Cell, cells
from zoe_master.simulator.study.one_run import run_cell
from zoe_master.simulator.study.results import Results
from zoe_master.simulator.study.tables import tables

APPLICATIONS = 200
SEEDS = 20
# So few runs are handed out ahead that an interrupt does not wait for many.
_AHEAD = 4


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = commands.add_parser("study", help="compare policies on seeded workloads", description=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--out", type=Path, default=Path("docs/study"), help="folder of the CSV files and tables")
    parser.add_argument("--applications", type=positive, default=APPLICATIONS, help="applications a run")
    parser.add_argument("--seeds", type=positive, default=SEEDS, help="runs of each cell, on as many workloads")
    parser.add_argument("--processes", type=positive, default=2)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given more than once")
    parser.add_argument("--tables-only", action="store_true", help="run nothing; write the tables of what is there")


def run(arguments: argparse.Namespace) -> int:
    """Run every cell that is not there yet."""
    results = Results(arguments.out)
    wanted = [cell for cell in cells(arguments.seeds) if not arguments.part or cell.part in arguments.part]
    there = results.there(arguments.applications)
    missing = [cell for cell in wanted if cell not in there and not arguments.tables_only]
    began_s = time.perf_counter()
    for number, (cell, figures) in enumerate(_run_all(missing, arguments.applications, arguments.processes), 1):
        results.add(cell, figures)
        _tell(number, len(missing), time.perf_counter() - began_s)
    results.sort(wanted)
    (arguments.out / "tables.md").write_text(tables({part: results.rows(part) for part in PARTS}))
    return 0


def _run_all(missing: Sequence[Cell], applications: int, processes: int) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Every cell with its figures, as they end."""
    with ProcessPoolExecutor(processes, initializer=_quiet) as pool:
        for first in range(0, len(missing), processes * _AHEAD):
            some = missing[first : first + processes * _AHEAD]
            running = {pool.submit(run_cell, cell, applications): cell for cell in some}
            for future in as_completed(running):
                yield running[future], future.result()


def _quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))


def _tell(number: int, total: int, took_s: float) -> None:
    if sys.stderr.isatty() or number % 50 == 0 or number == total:
        left_s = took_s / number * (total - number)
        print(f"{number:,} of {total:,} runs, about {left_s / 60:.0f} minutes left", file=sys.stderr, flush=True)
