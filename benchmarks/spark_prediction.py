"""Accuracy of predicted run times of Spark, on the store of `make demo-deadline`.

`python -m benchmarks.spark_prediction --out FILE [--passes 2] [--minutes N]` runs, in random order, the demo's job with
one to three workers, without a guaranteed rate and with two of them, for three sizes of input, and for the largest one
through views: 36 settings in a pass, each a run of some half minute, one after the other. Before these, programs
without Spark, of 12 settings. Each row has the run time that Zoe expected at the submission (`zoe plan`), the real one,
and the figures of Spark's event log.

`python -m benchmarks.spark_prediction_tables FILE` evaluates the rows.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from rich.console import Console

from benchmarks.spark_event_log import figures_of
from benchmarks.support import machine
from zoe_client import Client
from zoe_client.vocabulary import Mark
from zoe_client.wire import ExecutionView
from zoe_embedded.demos.data import Dataset
from zoe_embedded.demos.deadline import stage
from zoe_embedded.demos.deadline_job import WORKER_CORES, WORKERS_MOST, DeadlineJob, dataset
from zoe_embedded.demos.deadline_runs import ALL, HALF, DeadlineRuns
from zoe_embedded.demos.deadline_world import held_cores
from zoe_embedded.demos.demo import prepare, until_it_ends
from zoe_embedded.demos.preparing import prepare_home
from zoe_embedded.demos.storage import FAILURES, upload
from zoe_embedded.runtimes.needs import MEMCACHED
from zoe_embedded.swift.site import Site

_SEED = 21
_LARGEST = 180_000
_KINDS = (
    (DeadlineJob("readings-60k", "readings-60k", event_log=True), 60_000),
    (DeadlineJob("readings-120k", "readings-120k", event_log=True), 120_000),
    (DeadlineJob("readings-180k", "readings-180k", event_log=True), _LARGEST),
    (DeadlineJob("readings-views", "readings-views", views=True, event_log=True), _LARGEST),
)
_RATES = (None, HALF, ALL)
_SETTLES_S, _LOOK_S = 30.0, 0.2
_HASHES = (1_200_000, 2_400_000, 3_600_000, 4_800_000)
"""Numbers of hashes. A run takes 1 s to 15 s: runs shorter than a second all count as one."""
_HASH_CORES = (0.25, 0.5, 1.0)
_HASH_PASSES = 7
_PROGRAM = """
import hashlib, sys
name = b"x"
for _ in range(int(sys.argv[1])):
    name = hashlib.sha256(name * 8).digest()
"""


@dataclass(frozen=True, slots=True)
class PredictedRun:
    """One run. cores: of the parallel part; guaranteed: bytes per second, 0 for none; runs: earlier ended runs of its
    kind, 0 without an expectation; times in seconds; load: of the machine, over a minute, at its end. lead_s: from
    readiness of its services to Spark's first job; tail_s: after its last task.
    """

    number: int
    kind: str
    spark: bool
    cores: float
    guaranteed: int
    views: bool
    start_s: float
    work_s: float
    read_bytes: int
    transferring_s: float
    waiting_s: float
    runs: int
    p50_s: float
    p90_s: float
    took_s: float
    load: float
    tasks: int = 0
    run_s: float = 0.0
    cpu_s: float = 0.0
    input_bytes: int = 0
    shuffle_bytes: int = 0
    delay_s: float = 0.0
    lead_s: float = 0.0
    tail_s: float = 0.0


def main() -> int:
    """Run all settings, and write each row immediately; return 1 if a run failed."""
    parser = argparse.ArgumentParser(prog="spark_prediction", description=__doc__)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no run after so many minutes [600]")
    parser.add_argument("--out", type=Path, required=True, help="CSV file for all runs")
    arguments = parser.parse_args()
    console, rows = Console(soft_wrap=True), []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is stopped then too
    print(machine())
    until_s = time.monotonic() + arguments.minutes * 60
    try:
        home, settings = prepare_home(None, programs=[MEMCACHED])
        with stage(console, home, settings, _KINDS[0][1]) as running:
            kinds = [DeadlineRuns(running.client, _data(console, running.site, *item), item[0]) for item in _KINDS]
            for row in _hash_runs(running.client):
                rows.append(row)
            with held_cores(running.client):
                for row in _spark(kinds, arguments.passes, until_s, len(rows)):
                    rows.append(row)
                    console.print(_text(row), markup=False)
                    write(rows, arguments.out)
    except FAILURES as error:
        console.print(str(error), style="red", markup=False)
        return 1
    finally:
        print(machine())
        write(rows, arguments.out)
    return 0


def _data(console: Console, site: Site, job: DeadlineJob, rows: int) -> Dataset:
    data = dataset(site.stack, rows, job)
    prepare(console, data)
    upload(console, site, data.readings, job.container)
    return data


def _spark(kinds: Sequence[DeadlineRuns], passes: int, until_s: float, before: int) -> Iterator[PredictedRun]:
    drawn = random.Random(_SEED)
    settings = [(runs, workers, rate) for runs in kinds for workers in range(1, WORKERS_MOST + 1) for rate in _RATES]
    number = before
    for _ in range(passes):
        for runs, workers, rate in drawn.sample(settings, len(settings)):
            if time.monotonic() > until_s:
                return
            number += 1
            outcome = runs.run_unpromised(workers, rate)
            ended = _execution_with_transfers(runs.client, outcome.execution)
            expected, moved = outcome.expected, ended.transfers
            figures = figures_of(runs.data.directory)
            start_s, work_s = _times(ended)
            ready_s = ended.marks.get(Mark.READY, ended.marks[Mark.PLACED])
            yield PredictedRun(
                number=number,
                kind=runs.job.name,
                spark=True,
                cores=workers * WORKER_CORES,
                guaranteed=rate or 0,
                views=any(input_.view for input_ in ended.inputs),
                start_s=start_s,
                work_s=work_s,
                read_bytes=moved.read_bytes if moved else 0,
                transferring_s=round(moved.transferring_s, 2) if moved else 0.0,
                waiting_s=round(moved.waiting_s, 2) if moved else 0.0,
                runs=expected.runs if expected else 0,
                p50_s=round(expected.p50_s, 2) if expected else 0.0,
                p90_s=round(expected.p90_s, 2) if expected else 0.0,
                took_s=round(outcome.took_s, 2),
                load=round(os.getloadavg()[0], 1),
                tasks=figures.tasks,
                run_s=round(figures.run_s, 2),
                cpu_s=round(figures.cpu_s, 2),
                input_bytes=figures.input_bytes,
                shuffle_bytes=figures.shuffle_bytes,
                delay_s=round(figures.delay_s, 2),
                lead_s=round(figures.began_s - ready_s, 2) if figures.began_s else 0.0,
                tail_s=round(ended.marks[Mark.ENDED] - figures.ended_s, 2) if figures.ended_s else 0.0,
            )


def _times(ended: ExecutionView) -> tuple[float, float]:
    marks = ended.marks
    ready_s = marks.get(Mark.READY, marks[Mark.PLACED])
    return round(ready_s - marks[Mark.PLACED], 2), round(marks[Mark.ENDED] - ready_s, 2)


def _execution_with_transfers(client: Client, execution: ExecutionView) -> ExecutionView:
    """Return the execution when its transfers are known, or after half a minute."""
    give_up_s = time.monotonic() + _SETTLES_S
    while time.monotonic() < give_up_s:
        execution = client.execution(execution.id)
        if execution.transfers is not None and execution.transfers.final:
            break
        time.sleep(_LOOK_S)
    return execution


def _hash_runs(client: Client) -> list[PredictedRun]:
    """Run the programs without Spark: of each kind one after the other, kinds side by side."""
    planning = threading.Lock()  # a user has one plan at a time
    with ThreadPoolExecutor(len(_HASHES)) as pool:
        return [row for rows in pool.map(lambda hashes: _of_kind(client, hashes, planning), _HASHES) for row in rows]


def _of_kind(client: Client, hashes: int, planning: threading.Lock) -> list[PredictedRun]:
    drawn = random.Random(_SEED + hashes)
    rows: list[PredictedRun] = []
    for _ in range(_HASH_PASSES):
        for cores in drawn.sample(_HASH_CORES, len(_HASH_CORES)):
            document = _hashing(hashes, cores)
            with planning:
                told = client.plan(document).run_times
            ended = until_it_ends(client, client.submit(document).id, lambda _: None)
            took_s = ended.marks[Mark.ENDED] - ended.marks[Mark.PLACED]
            start_s, work_s = _times(ended)
            rows.append(
                PredictedRun(
                    number=len(rows) + 1,
                    kind=ended.name,
                    spark=False,
                    cores=cores,
                    guaranteed=0,
                    views=False,
                    start_s=start_s,
                    work_s=work_s,
                    read_bytes=0,
                    transferring_s=0.0,
                    waiting_s=0.0,
                    runs=told[0].samples if told else 0,
                    p50_s=round(told[0].p50_s, 2) if told else 0.0,
                    p90_s=round(told[0].p90_s, 2) if told else 0.0,
                    took_s=round(took_s, 2),
                    load=round(os.getloadavg()[0], 1),
                )
            )
    return rows


def _hashing(hashes: int, cores: float) -> dict[str, object]:
    program = {"name": "hashes", "image": "zoe/python", "command": ["python3", "-c", _PROGRAM, str(hashes)]}
    resources = {"memory": "64MiB", "cores": cores, "limits": {"cores": cores}}
    components = [{**program, "ends_application": True, "resources": resources}]
    return {"version": 4, "name": f"hashes-{hashes // 1000}k", "time_limit_s": 300, "components": components}


def _text(row: PredictedRun) -> str:
    return (
        f"  {row.number} {row.kind:<16} {row.cores:g} cores, {row.guaranteed / 1e6:g} MB/s: p50 {row.p50_s:5.1f}, "
        f"p90 {row.p90_s:5.1f}, took {row.took_s:5.1f} s (load {row.load:g})"
    )


def write(rows: Sequence[PredictedRun], path: Path) -> None:
    """Write all rows as CSV."""
    with path.open("w", encoding="ascii", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(PredictedRun)], lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(row) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
