"""Compare orders on whole published logs, by each half of the time, by user and by width.

    python -m benchmarks.whole_logs FILE LOG ORDER:BACKFILL...

Appends three rows for each policy to the CSV FILE: the jobs of the first and of the second half of the log's time, and
all. Jobs are replayed once; a half counts the jobs that were submitted in it. An order in `LEARNED_ORDERS` gets the
users' requests as time limits, and learns run times as the master does; the other orders get them as declared run
times. Sizes age by 36,000 s, as in the default policy.
"""

from __future__ import annotations

import csv
import gc
import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, quantiles

import structlog

from zoe_lib.domain.cluster.policy import LEARNED_ORDERS, Policy
from zoe_simulator.formats import read_trace
from zoe_simulator.jobs import Run, Trace
from zoe_simulator.measures.figures import bounded_slowdown
from zoe_simulator.trace import Replay

_AGEING_S = 36_000.0
# The smallest number of processors of each class of width.
_WIDTHS = (1, 2, 9, 33)
Figures = Mapping[str, float | str]


def main() -> None:
    """Run the given policies and append their rows."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    gc.set_threshold(50_000, 50, 50)
    file, log, policies = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    trace = read_trace(log)
    for policy in policies:
        order, _, backfill = policy.partition(":")
        runs = Replay(
            trace,
            Policy(order=order, backfill=backfill, ageing_s=_AGEING_S),
            learn_limits=order in LEARNED_ORDERS,
        ).run()
        name = {"log": trace.name, "order": order, "backfill": backfill}
        _append(file, [{**name, **row} for row in rows(trace, runs)])


def rows(trace: Trace, runs: Sequence[Run]) -> list[Figures]:
    """Return the figures of both halves of the time, and of all jobs; times in seconds."""
    first_s, last_s = trace.jobs[0].submit_s, trace.jobs[-1].submit_s
    middle_s = (first_s + last_s) / 2
    halves = {
        "first half": [run for run in runs if run.job.submit_s <= middle_s],
        "second half": [run for run in runs if run.job.submit_s > middle_s],
        "all": list(runs),
    }
    return [{"jobs of": name, **_figures(part)} for name, part in halves.items() if part]


def _figures(runs: Sequence[Run]) -> Figures:
    users = _mean_waits(runs, lambda run: run.job.user)
    widths = _mean_waits(runs, lambda run: max(width for width in _WIDTHS if width <= max(run.job.processors, 1)))
    user_waits = sorted(users.values())
    found: dict[str, float | str] = {
        "jobs": len(runs),
        "mean_wait_s": round(fmean(run.wait_s for run in runs)),
        "mean_bounded_slowdown": round(fmean(map(bounded_slowdown, runs)), 1),
        "longest_wait_s": round(max(run.wait_s for run in runs)),
        "users": len(users),
        "median_user_wait_s": round(user_waits[len(user_waits) // 2]),
        "p90_user_wait_s": round(quantiles(user_waits, n=10)[-1] if len(user_waits) > 1 else user_waits[0]),
    }
    return found | {f"wait_s_from_{width}_cores": round(widths[width]) if width in widths else "" for width in _WIDTHS}


def _mean_waits(runs: Iterable[Run], group: Callable[[Run], str | int]) -> dict[str | int, float]:
    waits = defaultdict(list)
    for run in runs:
        waits[group(run)].append(run.wait_s)
    return {name: fmean(some) for name, some in waits.items()}


def _append(file: Path, found: Sequence[Figures]) -> None:
    is_new = not file.exists()
    with file.open("a", newline="") as out:
        writer = csv.DictWriter(out, list(found[0]), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
