"""A published schedule of ElastiSim beside Zoe's: `python -m benchmarks.elastisim CLONE [JOBS]`.

CLONE is a work tree of https://github.com/EPCCed/mira-cirrus-elastisim: jobs of Cirrus (EPCC, 2024) on 13,249 cores,
with start and end of each in ElastiSim under FIFO without backfill. A rigid job has a number of cores, a moldable one
gets at its start as many as are free, from half of that number (one at least) to twice, and keeps them. Run times fall
in proportion. Here a moldable job has four services of half its number; two are essential if that is one core, else
one. JOBS: the first ones only, whose starts do not depend on later ones in ElastiSim.
"""

from __future__ import annotations

import csv
import json
import logging
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import structlog

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.resources import Resources
from zoe_simulator.elastic_run import ElasticRun, FinishedApplication
from zoe_simulator.workload import Arrival

CORES = 13_249
RIGID, MOLDABLE = "cirrus-cpu-simple-rigid", "cirrus-cpu-simple-moldable"
_FIFO = Policy(order="fifo", backfill="none")
_SAME_S = 1.0
_PARTS = 4


def main(clone: Path, count: int | None) -> None:
    """Print waits and turnarounds of both schedules, and the starts that differ."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    print("| jobs | schedule | mean wait | mean turnaround | longest turnaround | starts that differ |")
    print("|---|---|---|---|---|---|")
    for folder, title, made in ((clone / RIGID, "rigid", _rigid), (clone / MOLDABLE, "moldable", _elastic)):
        _compare(folder, title, [made(number, job) for number, job in enumerate(_jobs(folder)[:count])])


def _compare(folder: Path, title: str, workload: Sequence[Arrival]) -> None:
    with (folder / "data/output/job_statistics.csv").open(encoding="utf-8", newline="") as file:
        expected = [(float(row["Start Time"]), float(row["End Time"])) for row in csv.DictReader(file)][: len(workload)]
    _line(title, "ElastiSim", workload, expected, expected)
    finished = ElasticRun(workload, (Node("cirrus", Resources(CORES * 1000, 1 << 50)),), _FIFO).run()
    _line(title, "Zoe", workload, _in_order(finished), expected)


def _in_order(finished: Sequence[FinishedApplication]) -> list[tuple[float, float]]:
    return [(one.start_s, one.end_s) for one in sorted(finished, key=lambda one: one.arrival.number)]


def _line(
    title: str,
    name: str,
    workload: Sequence[Arrival],
    found: Sequence[tuple[float, float]],
    expected: Sequence[tuple[float, float]],
) -> None:
    waits = [start_s - arrival.submit_s for arrival, (start_s, _) in zip(workload, found, strict=True)]
    turnarounds = [end_s - arrival.submit_s for arrival, (_, end_s) in zip(workload, found, strict=True)]
    differ = sum(abs(mine[0] - theirs[0]) > _SAME_S for mine, theirs in zip(found, expected, strict=True))
    figures = f"{fmean(waits):.1f} s | {fmean(turnarounds):.1f} s | {max(turnarounds):.0f} s"
    print(f"| {title} | {name} | {figures} | {differ} of {len(found)} |", flush=True)


def _jobs(folder: Path) -> Sequence[dict[str, Any]]:
    text = (folder / "data/input/2024_Q1_CPU-jobs.json").read_text("utf-8")
    jobs: Sequence[dict[str, Any]] = json.loads(text)["jobs"]
    return jobs


def _rigid(number: int, job: dict[str, Any]) -> Arrival:
    cores, run_s = job["num_nodes"], float(job["arguments"]["iterations"])
    return Arrival(number, float(job["submit_time"]), run_s, run_s, 1, 1, _size(cores * 1000), "cirrus", math.inf)


def _elastic(number: int, job: dict[str, Any]) -> Arrival:
    given, cores = job["arguments"], job["arguments"]["base_nodes"]
    run_s = given["nstep"] * cores / job["num_nodes_max"]
    core = 2 if cores == 1 else 1
    part = _size(job["num_nodes_max"] * 1000 // _PARTS)
    return Arrival(number, float(job["submit_time"]), run_s, run_s, core, _PARTS, part, "cirrus", math.inf)


def _size(cores_milli: int) -> Resources:
    return Resources(cores_milli, 1 << 20)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
