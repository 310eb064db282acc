"""Evaluate the predictions in the runs of `benchmarks.spark_prediction`.

`python -m benchmarks.spark_prediction_tables [FILE]`. *Told*: the prediction of `zoe plan` before each run, from the
earlier runs. *Left out*: each setting (cores and rate) is predicted from the runs of its kind with other settings;
*over sizes*: from the plain runs of all sizes with other settings, by the bytes read. *Spark's CPU*: the same, with the
share of CPU time in the executors' time as the measure of activity, instead of the time in which the run waited for the
store.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.promise_tables import wilson
from zoe_embedded.demos.deadline_job import WORKER_CORES
from zoe_lib.domain.values.frozen import changed
from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.model import RunTimeModel, fit_model
from zoe_lib.run_times.values import RunSample, RunSetting

RUNS = Path(__file__).parent.parent / "docs" / "study" / "spark-prediction.csv"
_KIND = ("t", "u", "k")
_WAITED_LEAST, _LEAST_BUSY = 0.1, 0.01
Row = dict[str, str]
Busy = Callable[[Row], float | None]


def main() -> int:
    """Print all figures."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with path.open(encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    spark = [row for row in rows if row["spark"] == "True"]
    loads = sorted(float(row["load"]) for row in spark)
    print(f"{len(rows)} runs, {len(spark)} of Spark; load {loads[0]:g} to {loads[-1]:g}, median {median(loads):g}")
    for name, some in (("all", rows), ("Spark", spark), ("others", [row for row in rows if row not in spark])):
        print(f"told, {name}: {predicted_errors(some)}")
    for name, busy in (("", activity_by_waits), (", Spark's CPU", spark_cpu)):
        print(f"left out{name}: {_errors(left_out(spark, busy))}")
        plain = [row for row in spark if row["kind"] != "readings-views"]
        print(f"left out, over sizes{name}: {_errors(left_out_over_sizes(plain, busy))}")
    return 0


def predicted_errors(rows: Sequence[Row]) -> str:
    """Return the error of p50 and the coverage of p90, of the runs with a prediction."""
    known = [row for row in rows if int(row["runs"])]
    if not known:
        return "nothing"
    share, low, high = wilson(sum(float(row["took_s"]) <= float(row["p90_s"]) for row in known), len(known))
    settled = [row for row in known if int(row["runs"]) >= 10]
    wrong = _errors((float(row["p50_s"]), float(row["took_s"])) for row in known)
    later = _errors((float(row["p50_s"]), float(row["took_s"])) for row in settled)
    return f"p50: {wrong}; after 10 runs: {later}; within p90: {share:.1%} ({low:.1%} to {high:.1%})"


def left_out(rows: Sequence[Row], busy: Busy) -> Iterator[tuple[float, float]]:
    """Yield the prediction of each run without its setting, and its run time."""
    taught: dict[tuple[str, ...], RunTimes] = {}
    for row in rows:
        place = row["kind"], *_setting(row)
        if place not in taught:
            times = taught[place] = RunTimes()
            others = [entry for entry in rows if entry["kind"] == row["kind"] and _setting(entry) != _setting(row)]
            for number, entry in enumerate(others):
                times.learn(str(number), _KIND, sample(entry, busy))
        rate = float(row["guaranteed"]) or None
        setting = RunSetting(float(row["cores"]), rate=rate, guaranteed=rate, views=row["views"] == "True")
        found = taught[place].answer(_KIND, setting)
        if found is not None:
            yield found.expected_s, float(row["took_s"])


def left_out_over_sizes(rows: Sequence[Row], busy: Busy) -> Iterator[tuple[float, float]]:
    """Yield the same from runs of all sizes."""
    free = [rate for row in rows if not float(row["guaranteed"]) and (rate := sample(row, busy).setting.rate)]
    models: dict[tuple[str, ...], RunTimeModel] = {}
    for row in rows:
        place = row["kind"], *_setting(row)
        if place not in models:
            others = [row for row in rows if (row["kind"], *_setting(row)) != place]
            models[place] = fit_model([sample(other, busy) for other in others])
        rate = float(row["guaranteed"]) or (median(free) if free else None)
        known = changed(sample(row, busy).setting, rate=rate)
        yield models[place].run_s(known), float(row["took_s"])


def sample(row: Row, busy: Busy) -> RunSample:
    """Return the training sample of a run, as `zoe_lib.run_times.samples` makes it of an execution."""
    work_s, moved_s, bytes_ = float(row["work_s"]), float(row["transferring_s"]), float(row["read_bytes"])
    rate = bytes_ / moved_s if bytes_ and moved_s > _WAITED_LEAST * work_s else None
    setting = RunSetting(
        float(row["cores"]), bytes_ or None, rate, float(row["guaranteed"]) or None, row["views"] == "True"
    )
    return RunSample(setting, float(row["start_s"]), work_s, busy(row))


def activity_by_waits(row: Row) -> float | None:
    """Return the activity of a run by the time in which it waited for the store."""
    if not float(row["read_bytes"]):
        return None
    readers = float(row["cores"]) / WORKER_CORES
    return min(max(1.0 - float(row["waiting_s"]) / (readers * float(row["work_s"])), _LEAST_BUSY), 1.0)


def spark_cpu(row: Row) -> float | None:
    """Return its activity by Spark: CPU seconds of executors, over the CPU seconds of their share while tasks ran."""
    run_s = float(row["run_s"]) * WORKER_CORES
    return min(max(float(row["cpu_s"]) / run_s, _LEAST_BUSY), 1.0) if run_s else None


def _setting(row: Row) -> tuple[str, str]:
    return row["cores"], row["guaranteed"]


def _errors(pairs: Iterable[tuple[float, float]]) -> str:
    wrong = sorted(abs(expected - took) / took for expected, took in pairs)
    if not wrong:
        return "none"
    quarter = wrong[3 * len(wrong) // 4]
    return f"median error {median(wrong):.1%}, three of four within {quarter:.1%} ({len(wrong)} runs)"


if __name__ == "__main__":
    sys.exit(main())
