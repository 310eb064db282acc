"""Seeded logs of the Lublin-Feitelson model start job for job when the reference once had them start.

`recorded/*.csv` hold those starts. After a deliberate change of the generator they are written anew by
`python -m tests.unit.zoe_simulator.test_recorded`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.support.checked_replay import checking
from tests.unit.zoe_simulator.reference import simulate
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.jobs import Trace
from zoe_simulator.lublin import BATCH, INTERACTIVE, generate
from zoe_simulator.trace import Replay

RECORDED = Path(__file__).parent / "recorded"
BACKFILLS = ("none", "easy", "easy-sjbf", "conservative")
TRACES = {
    "all": lambda: generate(600, 64, seed=11, overestimate=4.0),
    "both": lambda: generate(600, 256, seed=12, overestimate=1.0, kinds=(BATCH, INTERACTIVE)),
}


@pytest.mark.parametrize("name", list(TRACES))
@pytest.mark.parametrize("backfill", BACKFILLS)
def test_the_starts_are_the_recorded_ones(name: str, backfill: str) -> None:
    trace = TRACES[name]()
    starts = {
        run.job.id: run.start_s for run in Replay(trace, Policy(order="fifo", backfill=backfill), check=checking).run()
    }
    recorded = read(name)
    assert len(recorded) == len(starts) == len(trace.jobs)
    assert {job: int(row[backfill]) for job, row in recorded.items()} == starts


@pytest.mark.parametrize("name", list(TRACES))
def test_the_backfills_differ_in_what_is_recorded(name: str) -> None:
    rows = read(name).values()
    assert len({tuple(row[backfill] for row in rows) for backfill in BACKFILLS}) == len(BACKFILLS)


def read(name: str) -> dict[int, dict[str, str]]:
    with (RECORDED / f"{name}.csv").open(newline="") as file:
        return {int(row["job_id"]): row for row in csv.DictReader(file)}


def record(name: str, trace: Trace) -> None:
    starts = {backfill: simulate(trace.processors, list(trace.jobs), backfill) for backfill in BACKFILLS}
    with (RECORDED / f"{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["job_id", *BACKFILLS])
        writer.writerows([job.id, *(int(starts[b][job.id]) for b in BACKFILLS)] for job in trace.jobs)


if __name__ == "__main__":
    for text, made in TRACES.items():
        record(text, made())
