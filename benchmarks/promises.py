"""The study of promises: how often they are kept, and their value beside other ways to meet deadlines.

    ZOE_TEST_DATA=FOLDER python -m benchmarks.promises [OUT.csv] [--processes 2] [--seeds 20]

Each row of OUT.csv (default: docs/study/promises.csv) is one run: loads, seed, strategy and figures. Existing rows are
not run again, so an interrupted run can continue. `python -m benchmarks.promise_tables [OUT.csv]` prints the tables of
docs/study/promises.md.
"""

from __future__ import annotations

import argparse
import csv
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import structlog

from lab.promises.strategies import CALIBRATED, CONFIDENCES, LEVERS, MAIN, outcome, training_executions
from lab.promises.workload import StudyCase, workload
from zoe_lib.run_times import kind
from zoe_lib.run_times.model import fit_model

BOTTLENECK, BOTH, CORES, NEITHER = (0.5, 1.5), (1.0, 1.0), (1.5, 0.5), (0.5, 0.5)
"""Loads of cores and store."""
PLAN = {
    BOTTLENECK: (*MAIN, *LEVERS),
    BOTH: (*MAIN, *CONFIDENCES),
    CORES: MAIN,
    NEITHER: MAIN,
}
OUT = Path(__file__).parent.parent / "docs" / "study" / "promises.csv"
COLUMNS = (
    *("cores_load", "store_load", "seed", "strategy", "goodput", "late", "slowdown", "unused"),
    *("kept", "made", "refused", "announced", "ahead", "seconds"),
)
AHEAD = 0.2
"""Share of the run time before the promised time at which a risk should be announced."""
Task = tuple[float, float, int, tuple[str, ...]]
_FITS_KEPT = 20_000


def main() -> int:
    """Run the missing rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=OUT)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    if not os.environ.get("ZOE_TEST_DATA"):
        parser.error("set ZOE_TEST_DATA to the folder of the logs")
    there = _existing_rows(given.out)
    tasks = list(_tasks(there, given.seeds))
    if not there:
        given.out.write_text(",".join(COLUMNS) + "\n", "utf-8")
    with multiprocessing.Pool(given.processes, _begin) as pool:
        for number, rows in enumerate(pool.imap_unordered(_run, tasks), 1):
            with given.out.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
            print(f"{number} of {len(tasks)}", file=sys.stderr, flush=True)
    return 0


def _tasks(there: set[tuple[str, ...]], seeds: int) -> Iterator[Task]:
    for points in ((BOTTLENECK, BOTH, CORES), (NEITHER,)):
        for seed in range(seeds):
            for cores, store in points:
                names = PLAN[cores, store]
                missing = tuple(name for name in names if (str(cores), str(store), str(seed), name) not in there)
                if missing:
                    yield cores, store, seed, missing


def _existing_rows(out: Path) -> set[tuple[str, ...]]:
    if not out.exists():
        return set()
    with out.open(encoding="utf-8", newline="") as file:
        return {(row["cores_load"], row["store_load"], row["seed"], row["strategy"]) for row in csv.DictReader(file)}


def _begin() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    # All strategies learn from the same earlier runs: a fit of these is made once.
    vars(kind)["learned"] = lru_cache(_FITS_KEPT)(fit_model)


def _run(task: Task) -> list[tuple[object, ...]]:
    cores, store, seed, names = task
    one = workload(StudyCase(seed, cores, store), Path(os.environ["ZOE_TEST_DATA"]) / "traces")
    earlier, rows = training_executions(one), []
    for name in names:
        began_s = time.process_time()
        found = outcome(name, one, earlier)
        kept, made = found.kept_promises() if name in CALIBRATED.values() else (0, 0)
        figures = (found.goodput(one.applications), found.late(), found.slowdown(), found.unused_share)
        announced = [found.announced_failures(share) if made else 0 for share in (0.0, AHEAD)]
        spent_s = round(time.process_time() - began_s, 2)
        counts = kept, made, len(found.refused), *announced, spent_s
        rows.append((cores, store, seed, name, *(round(each, 4) for each in figures), *counts))
    return rows


if __name__ == "__main__":
    sys.exit(main())
