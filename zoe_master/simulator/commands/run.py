"""`zoe-sim run`: replay a log through the production scheduler and print what it came to."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from zoe_lib.domain.policy import BACKFILLS, ORDERS, Policy
from zoe_master.simulator.commands.arguments import positive
from zoe_master.simulator.figures import figures, forecast_figures
from zoe_master.simulator.formats.swf import read_swf
from zoe_master.simulator.jobs import Run
from zoe_master.simulator.trace import Replay, in_trace_order

_PROGRESS_EVERY = 500


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = commands.add_parser("run", help="replay a log in the Standard Workload Format", description=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("trace", type=Path, help="file, may end in .gz")
    parser.add_argument("--order", choices=sorted(ORDERS), default="fifo")
    parser.add_argument("--backfill", choices=sorted(BACKFILLS), default="none")
    parser.add_argument("--exact-runtimes", action="store_true", help="estimates are the run times, not the requests")
    parser.add_argument(
        "--forecast-every", type=positive, metavar="N", help="tell each N-th job that has to wait when it will start"
    )
    parser.add_argument("--jobs", type=positive, metavar="N", help="only the first so many jobs")
    parser.add_argument("--starts", type=Path, help="write job_id,start_s for every job")
    parser.add_argument("--json", action="store_true", help="figures as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Carry it out."""
    trace = read_swf(arguments.trace)
    if arguments.jobs is not None:
        trace = replace(trace, jobs=trace.jobs[: arguments.jobs])
    policy = Policy(order=arguments.order, backfill=arguments.backfill)
    began_s = time.perf_counter()
    replay = Replay(trace, policy, arguments.exact_runtimes, arguments.forecast_every)
    runs = replay.run(_progress(len(trace.jobs)))
    result = figures(trace, runs, time.perf_counter() - began_s)
    if arguments.forecast_every is not None:
        result |= forecast_figures(replay.foretold)
    if arguments.starts is not None:
        _write_starts(arguments.starts, runs)
    _print(result, arguments.json)
    return 0


def _progress(total: int) -> Callable[[int], None]:
    def tell(started: int) -> None:
        if sys.stderr.isatty() and started % _PROGRESS_EVERY == 0:
            print(f"\r{started:,} of {total:,} jobs started", end="", file=sys.stderr)

    return tell


def _print(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:<24}{value:,.3f}" if isinstance(value, float) else f"{name:<24}{value}")


def _write_starts(path: Path, runs: list[Run]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job_id", "start_s"])
        writer.writerows((run.job.id, _seconds(run.start_s)) for run in in_trace_order(runs))


def _seconds(value: float) -> str:
    """Every digit, and no point behind whole seconds."""
    return str(int(value)) if value == int(value) else repr(value)
