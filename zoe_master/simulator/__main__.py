"""The command `zoe-sim`: replay a log through the production scheduler and print what it came to."""

from __future__ import annotations

import argparse
import csv
import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from zoe_lib.domain.policy import BACKFILLS, ORDERS, Policy
from zoe_master.simulator.figures import figures, forecast_figures
from zoe_master.simulator.swf import Trace, TraceError, read_swf
from zoe_master.simulator.trace import Replay, Start, in_trace_order

_PROGRESS_EVERY = 500


def main() -> int:
    """Run one command; 2 for a file that is no trace."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    arguments = _parser().parse_args()
    try:
        return _run(arguments)
    except (TraceError, OSError) as error:
        print(f"zoe-sim: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="zoe-sim", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="replay a log in the Standard Workload Format")
    run.add_argument("trace", type=Path, help="file, may end in .gz")
    run.add_argument("--order", choices=sorted(ORDERS), default="fifo")
    run.add_argument("--backfill", choices=sorted(BACKFILLS), default="none")
    run.add_argument("--exact-runtimes", action="store_true", help="estimates are the run times, not the requests")
    run.add_argument(
        "--forecast-every", type=_positive, metavar="N", help="tell each N-th job that has to wait when it will start"
    )
    run.add_argument("--jobs", type=int, help="only the first so many jobs")
    run.add_argument("--starts", type=Path, help="write job_id,start_s for every job")
    run.add_argument("--json", action="store_true", help="figures as one JSON object")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    trace = read_swf(arguments.trace)
    if arguments.jobs is not None:
        trace = Trace(trace.name, trace.processors, trace.jobs[: arguments.jobs])
    policy = Policy(order=arguments.order, backfill=arguments.backfill)
    began_s = time.perf_counter()
    replay = Replay(trace, policy, arguments.exact_runtimes, arguments.forecast_every)
    starts = replay.run(_progress(len(trace.jobs)))
    result = figures(trace, starts, time.perf_counter() - began_s)
    if arguments.forecast_every is not None:
        result |= forecast_figures(replay.foretold)
    if arguments.starts is not None:
        _write_starts(arguments.starts, starts)
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:<24}{value:,.3f}" if isinstance(value, float) else f"{name:<24}{value}")
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _progress(total: int) -> Callable[[int], None]:
    def tell(started: int) -> None:
        if sys.stderr.isatty() and started % _PROGRESS_EVERY == 0:
            print(f"\r{started:,} of {total:,} jobs started", end="", file=sys.stderr)

    return tell


def _write_starts(path: Path, starts: list[Start]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job_id", "start_s"])
        writer.writerows((start.job.id, f"{start.start_s:g}") for start in in_trace_order(starts))


if __name__ == "__main__":
    sys.exit(main())
