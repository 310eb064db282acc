"""Real logs through the production master: the published averages to every printed digit, and every job as elsewhere.

The reference of `tests/unit/zoe_simulator` is compared job for job with whatever logs in the Standard Workload
Format lie in the folder of test data.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.long import of_traces
from tests.support.needs import test_data
from tests.unit.zoe_simulator.reference import simulate
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.formats import format_of
from zoe_simulator.formats.lines import read_lines
from zoe_simulator.formats.swf import read_swf
from zoe_simulator.jobs import Run, Trace
from zoe_simulator.measures.figures import figures
from zoe_simulator.measures.forecast_figures import forecast_figures
from zoe_simulator.trace import Replay

KTH = "KTH-SP2-1996-2.1.sc15filtered.swf.gz"
SDSC = "SDSC-SP2-1998-4.2.sc15filtered.swf.gz"
LUBLIN = "lublin_256.swf.gz"
# Gaussier, Glesser, Reis, Trystram, SC'15: mean bounded slowdown by trace, backfill and whether run times are exact.
PUBLISHED = [
    (KTH, "easy", False, 92.577),
    (KTH, "easy-sjbf", False, 69.405),
    (KTH, "easy", True, 71.722),
    (KTH, "easy-sjbf", True, 49.848),
    (SDSC, "easy", False, 87.870),
    (SDSC, "easy-sjbf", False, 84.889),
    (SDSC, "easy", True, 70.478),
    (SDSC, "easy-sjbf", True, 56.836),
]
# Mean wait in seconds and mean bounded slowdown of an independent simulator with the same rules.
INDEPENDENT = [
    (KTH, "none", 353_776.41, 6_814.973),
    (SDSC, "none", 1_535_568.62, 13_823.534),
    (LUBLIN, "none", 2_388_443.76, 66_502.476),
    (KTH, "easy", 6_836.87, 92.577),
    (SDSC, "easy", 20_497.76, 87.870),
    (LUBLIN, "easy", 97_155.99, 590.054),
]
BACKFILLS = ("none", "easy", "easy-sjbf")
# Log and backfill that are replayed always; the rest takes many minutes.
SHORT = {(LUBLIN, "easy")}
# Log, backfill, and how many of the log's first jobs are replayed where it is not replayed whole.
BEGINNINGS = [(KTH, "easy", 4000), (LUBLIN, "easy-sjbf", 3000)]
# Log, and number of jobs for which one gets a forecast of its start.
FORETOLD = [(KTH, 3), (SDSC, 5)]


def logs() -> list[str]:
    """Every log in the Standard Workload Format that is there, by name."""
    folder = Path(os.environ.get("ZOE_TEST_DATA", "")) / "traces"
    names = sorted(path.name for path in folder.glob("*.swf*")) if "ZOE_TEST_DATA" in os.environ else []
    return [name for name in names if format_of(read_lines(folder / name), name) == "swf"] or ["none"]


@cache
def trace_of(name: str) -> Trace:
    return read_swf(test_data() / "traces" / name)


@cache
def runs_of(name: str, backfill: str, exact: bool) -> list[Run]:
    return Replay(trace_of(name), Policy(order="fifo", backfill=backfill), exact).run()


def cases(rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Parameters of a test, long unless log and backfill are those of a short one, with users' estimates."""
    return [row if row[:2] in SHORT and True not in row else pytest.param(*row, marks=of_traces) for row in rows]


@pytest.mark.parametrize(("name", "backfill", "exact", "published"), cases(PUBLISHED))
def test_the_published_average_comes_out(name: str, backfill: str, exact: bool, published: float) -> None:
    result = figures(trace_of(name), runs_of(name, backfill, exact), 1.0)
    assert round(result["mean_bounded_slowdown"], 3) == published


@pytest.mark.parametrize(("name", "backfill", "wait_s", "slowdown"), cases(INDEPENDENT))
def test_the_averages_of_another_simulator_come_out(name: str, backfill: str, wait_s: float, slowdown: float) -> None:
    result = figures(trace_of(name), runs_of(name, backfill, False), 1.0)
    assert round(result["mean_wait_s"], 2) == wait_s
    assert round(result["mean_bounded_slowdown"], 3) == slowdown


@pytest.mark.parametrize(("name", "backfill"), cases(product(logs(), BACKFILLS)))
def test_every_job_starts_when_the_reference_starts_it(name: str, backfill: str) -> None:
    trace = trace_of(name)
    starts = {run.job.id: run.start_s for run in runs_of(name, backfill, False)}
    assert starts == simulate(trace.processors, list(trace.jobs), backfill)


@pytest.mark.parametrize(("name", "backfill", "jobs"), BEGINNINGS)
def test_every_job_of_a_beginning_starts_when_the_reference_starts_it(name: str, backfill: str, jobs: int) -> None:
    trace = trace_of(name)
    trace = replace(trace, jobs=trace.jobs[:jobs])
    runs = Replay(trace, Policy(order="fifo", backfill=backfill)).run()
    assert {run.job.id: run.start_s for run in runs} == simulate(trace.processors, list(trace.jobs), backfill)
    submitted = [run.job.id for run in sorted(runs, key=lambda run: run.start_s)]
    assert submitted != sorted(submitted), "no job passes another: this tests nothing"


@of_traces
@pytest.mark.parametrize(("name", "every"), FORETOLD)
@pytest.mark.parametrize("backfill", ["easy", "conservative"])
def test_nine_of_ten_start_by_the_p90_that_they_were_told(name: str, every: int, backfill: str) -> None:
    replay = Replay(trace_of(name), Policy(order="fifo", backfill=backfill), forecast_every=every)
    replay.run()
    told = forecast_figures(replay.foretold)
    assert told["forecasts"] > 4_000
    assert 0.85 <= told["started_by_p90"] <= 0.95
    for row in told["forecasts_by_width"]:
        assert 0.45 <= row["started_by_p50"]["share"] <= 0.55, row
        assert 0.86 <= row["started_by_p90"]["share"] <= 0.94, row
        assert row["mean_error_s"] < row["naive_mean_error_s"], row
