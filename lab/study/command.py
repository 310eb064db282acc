"""`python -m lab study`: compare policies on seeded workloads; it resumes an interrupted study, and writes tables."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from itertools import chain
from pathlib import Path
from typing import Any

import structlog

from lab.study.cells import PARTS, cells
from lab.study.log_cells import LOG_PART, LogCell, log_cells, run_log_cell
from lab.study.log_tables import log_tables
from lab.study.one_run import run_cell
from lab.study.places_cells import PLACES_PART, places_cells
from lab.study.results import AnyCell, Results
from lab.study.sharing_cells import SHARING_PART, sharing_cells
from lab.study.tables import tables
from zoe_simulator.commands.arguments import positive

APPLICATIONS = 200
JOBS = 1000
SEEDS = 20
# Parts on generated workloads.
DRAWN = (*PARTS, SHARING_PART, PLACES_PART)
# Few runs are handed out ahead, so that an interrupt does not wait for many.
_AHEAD = 4


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Define the command."""
    parser = commands.add_parser("study", help="compare policies on seeded workloads", description=__doc__)
    parser.set_defaults(run=run, refuse=parser.error)
    parser.add_argument(
        "--out", type=Path, default=Path("docs/study"), help="folder for CSV files and tables [docs/study]"
    )
    parser.add_argument(
        "--applications", type=positive, default=APPLICATIONS, help=f"applications per run [{APPLICATIONS}]"
    )
    parser.add_argument(
        "--seeds", type=positive, default=SEEDS, help=f"runs of each cell, each with another workload [{SEEDS}]"
    )
    parser.add_argument("--processes", type=positive, default=2, help="runs in parallel [2]")
    parser.add_argument(
        "--part", action="append", choices=(*DRAWN, LOG_PART), help="run only this part; may be repeated [all]"
    )
    parser.add_argument(
        "--logs",
        type=Path,
        metavar="FOLDER",
        default=_folder_of_logs(),
        help="folder of the published logs for the part `logs` [traces in ZOE_TEST_DATA]",
    )
    parser.add_argument("--jobs", type=positive, default=JOBS, help=f"jobs of a log in one run [{JOBS}]")
    parser.add_argument("--tables-only", action="store_true", help="run nothing; write tables of the existing results")


def run(arguments: argparse.Namespace) -> int:
    """Run every missing cell."""
    parts = arguments.part or [*DRAWN, *([LOG_PART] if arguments.logs is not None else [])]
    if LOG_PART in parts and arguments.logs is None and not arguments.tables_only:
        arguments.refuse("the part `logs` needs published logs: give --logs FOLDER or set ZOE_TEST_DATA")
    results = Results(arguments.out)
    drawn = chain(cells(arguments.seeds), sharing_cells(arguments.seeds), places_cells(arguments.seeds))
    wanted: list[AnyCell] = [cell for cell in drawn if cell.part in parts]
    wanted += log_cells() if LOG_PART in parts else ()
    there = results.completed_cells(arguments.applications) - set(log_cells())
    there |= results.completed_cells(arguments.jobs) & set(log_cells())
    missing = [cell for cell in wanted if cell not in there and not arguments.tables_only]
    began_s = time.perf_counter()
    for number, (cell, figures) in enumerate(_run_all(missing, arguments), 1):
        results.add(cell, figures)
        _tell(number, len(missing), time.perf_counter() - began_s)
    results.sort(wanted)
    (arguments.out / "tables.md").write_text(tables({part: results.rows(part) for part in DRAWN}))
    if rows := results.log_rows():
        (arguments.out / "logs.md").write_text(log_tables(rows))
    return 0


def _folder_of_logs() -> Path | None:
    data = os.environ.get("ZOE_TEST_DATA")
    return Path(data) / "traces" if data else None


def _run_all(missing: Sequence[AnyCell], arguments: argparse.Namespace) -> Iterator[tuple[AnyCell, dict[str, Any]]]:
    """Yield every cell with its figures, in order of completion."""
    ahead = arguments.processes * _AHEAD
    with ProcessPoolExecutor(arguments.processes, initializer=_quiet) as pool:
        for first in range(0, len(missing), ahead):
            some = missing[first : first + ahead]
            running = {_submit(pool, cell, arguments): cell for cell in some}
            for future in as_completed(running):
                yield running[future], future.result()


def _submit(pool: ProcessPoolExecutor, cell: AnyCell, arguments: argparse.Namespace) -> Future[dict[str, Any]]:
    if isinstance(cell, LogCell):
        return pool.submit(run_log_cell, cell, arguments.jobs, arguments.logs)
    return pool.submit(run_cell, cell, arguments.applications)


def _quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))


def _tell(number: int, total: int, took_s: float) -> None:
    if sys.stderr.isatty() or number % 50 == 0 or number == total:
        left_s = took_s / number * (total - number)
        print(f"{number:,} of {total:,} runs, about {left_s / 60:.0f} minutes left", file=sys.stderr, flush=True)
