"""`zoe-sim run`: replay a trace through the production scheduler and print the figures."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from zoe_lib.domain.cluster.policy import BACKFILLS, ORDERS, Policy
from zoe_simulator.commands.arguments import not_negative, positive, share, window
from zoe_simulator.commands.output import print_figures, progress_bar, write_starts
from zoe_simulator.formats import FORMATS, read_trace
from zoe_simulator.jobs import Run, Trace
from zoe_simulator.measures.figures import figures
from zoe_simulator.measures.forecast_figures import forecast_figures
from zoe_simulator.predictors import PREDICTORS
from zoe_simulator.trace import Replay


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Define the command."""
    parser = commands.add_parser("run", help="replay a trace of another cluster", description=__doc__)
    parser.set_defaults(run=run, refuse=parser.error)
    add_options(parser)
    parser.add_argument(
        "--predict",
        choices=("off", "limits", *PREDICTORS),
        default="off",
        help="predict run times from ended jobs, instead of using the requests; limits: requests are time limits, and "
        "the master learns run times as in production [off]",
    )
    parser.add_argument(
        "--forecast-every", type=positive, metavar="N", help="forecast the start of every N-th job that has to wait"
    )
    parser.add_argument("--report", type=Path, metavar="DIR", help="write figures and pictures as JSON, PNG and HTML")
    parser.add_argument(
        "--window",
        type=window,
        metavar="FROM:TO",
        help="time shown in the report's Gantt chart, in seconds of the trace [the busiest day]",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the common options of replays: the trace, and the policy."""
    parser.add_argument("trace", type=Path, help="file of the trace; may end in .gz")
    parser.add_argument("--format", choices=FORMATS, help="format of the trace [detected from its content]")
    parser.add_argument("--nodes", type=Path, metavar="FILE", help="list of nodes; required for a list of pods")
    parser.add_argument("--load", type=share, default=0.9, help="load of the server that runs a SWIM trace [0.9]")
    parser.add_argument("--order", choices=sorted(ORDERS), default="fifo", help="order of the queue [fifo]")
    parser.add_argument("--backfill", choices=sorted(BACKFILLS), default="none", help="rule of backfill [none]")
    parser.add_argument(
        "--ageing",
        type=not_negative,
        default=0.0,
        metavar="SECONDS",
        help="wait that counts like half the size; 0: no ageing, as in the literature [0]",
    )
    parser.add_argument(
        "--exact-runtimes", action="store_true", help="use the actual run times as estimates, not the requests"
    )
    parser.add_argument("--jobs", type=positive, metavar="N", help="run only the first N jobs")
    parser.add_argument("--starts", type=Path, metavar="FILE", help="write job_id,start_s for every job")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.predict != "off" and arguments.exact_runtimes:
        arguments.refuse("--predict cannot be combined with --exact-runtimes")
    if arguments.window and not arguments.report:
        arguments.refuse("--window needs --report")
    trace = trace_of(arguments)
    runs, result = _replay(trace, policy_of(arguments), arguments)
    if arguments.starts is not None:
        write_starts(arguments.starts, runs)
    if arguments.report is not None:
        # Drawing takes long to import, and few runs are drawn.
        from zoe_simulator.report.write import write_report

        write_report(arguments.report, trace, runs, result, arguments.window)
    print_figures(result, arguments.json)
    return 0


def trace_of(arguments: argparse.Namespace) -> Trace:
    """Return the trace, or its first jobs; Raises TraceError and OSError."""
    trace = read_trace(arguments.trace, arguments.format, arguments.nodes, arguments.load)
    return trace if arguments.jobs is None else replace(trace, jobs=trace.jobs[: arguments.jobs])


def policy_of(arguments: argparse.Namespace) -> Policy:
    """Return the policy that the options name."""
    return Policy(order=arguments.order, backfill=arguments.backfill, ageing_s=arguments.ageing)


def _replay(trace: Trace, policy: Policy, arguments: argparse.Namespace) -> tuple[list[Run], dict[str, Any]]:
    predictor = PREDICTORS[arguments.predict]() if arguments.predict in PREDICTORS else None
    replay = Replay(
        trace,
        policy,
        arguments.exact_runtimes,
        arguments.forecast_every,
        predictor=predictor,
        learn_limits=arguments.predict == "limits",
    )
    with progress_bar(len(trace.jobs)) as started:
        began_s = time.perf_counter()
        runs = replay.run(started)
        took_s = time.perf_counter() - began_s
    result = figures(trace, runs, took_s)
    if arguments.forecast_every is not None:
        result |= forecast_figures(replay.foretold)
    return runs, result
