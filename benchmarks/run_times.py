"""Accuracy of learned run times for the jobs of a log, in the order of their submissions and ends.

    python -m benchmarks.run_times LOG.swf.gz

A kind is a user's application with any number of processors. The prediction at the submission is compared with the real
run time, for each chance; the request of the log is a limit. The expected run time stands beside the mean of the last
two jobs of the kind (Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007).
"""

from __future__ import annotations

import heapq
import sys
import time
from collections import Counter, defaultdict, deque
from pathlib import Path
from statistics import fmean, median

from benchmarks.support import machine
from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.spread import CHANCES
from zoe_lib.run_times.values import RunSample, RunSetting
from zoe_simulator.formats import read_trace
from zoe_simulator.jobs import Job

Kind = tuple[str, str, str]


def kind_of(job: Job) -> Kind:
    """Return the kind of a job."""
    return "log", job.user, job.application


def main(path: Path) -> None:
    """Print the shares kept, and the errors."""
    trace, times = read_trace(path), RunTimes()
    running: list[tuple[float, int, Job]] = []
    lately: dict[Kind, deque[float]] = defaultdict(lambda: deque(maxlen=2))
    kept: Counter[float] = Counter()
    errors: list[float] = []
    beside: list[float] = []
    began_s = time.process_time()
    for job in trace.jobs:
        while running and running[0][0] <= job.submit_s:
            _, _, ended = heapq.heappop(running)
            setting = RunSetting(ended.reservation.cores_milli / 1000)
            times.learn(str(ended.id), kind_of(ended), RunSample(setting, 0.0, ended.run_s))
            lately[kind_of(ended)].append(ended.run_s)
        kind, setting = kind_of(job), RunSetting(job.reservation.cores_milli / 1000)
        answer = times.answer(kind, setting)
        times.predict_submitted(str(job.id), kind, setting)
        if answer is not None:
            for chance in CHANCES:
                most_s = times.within_s(kind, setting, chance)
                kept[chance] += most_s is not None and job.run_s <= min(most_s, job.request_s)
            errors.append(abs(min(answer.expected_s, job.request_s) - job.run_s) / job.run_s)
            beside.append(abs(min(fmean(lately[kind]), job.request_s) - job.run_s) / job.run_s)
        # Logs do not say when the jobs of a simulation would start: they end as if they had not waited.
        heapq.heappush(running, (job.submit_s + job.run_s, job.id, job))
    spent_s = time.process_time() - began_s
    print(f"{path.name}: {len(trace.jobs)} jobs, {len(errors)} of kinds that had ended before; {machine()}")
    print(
        "  share within the prediction: "
        + ", ".join(f"{value:.0%}: {kept[value] / len(errors):.4f}" for value in CHANCES)
    )
    print(f"  median relative error {median(errors):.3f}; of the mean of the last two {median(beside):.3f}")
    print(f"  {spent_s / len(trace.jobs) * 1000:.2f} ms of CPU a job")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
