"""`python -m lab check`: replay a trace and check the invariants after every tick, optionally with faults."""

from __future__ import annotations

import argparse
import time

from lab.faults.of_trace import run_with_faults
from lab.invariants import Invariants
from zoe_simulator.commands.arguments import positive
from zoe_simulator.commands.output import print_figures, progress_bar, write_starts
from zoe_simulator.commands.run import add_options, policy_of, trace_of
from zoe_simulator.measures.figures import figures
from zoe_simulator.trace import Replay


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Define the command."""
    parser = commands.add_parser("check", help="check the invariants in a replay", description=__doc__)
    parser.set_defaults(run=run)
    add_options(parser)
    parser.add_argument("--faults", type=positive, metavar="N", help="inject N faults, drawn by the seed")
    parser.add_argument("--seed", type=int, default=1, help="seed of the faults; equal seeds give equal runs [1]")


def run(arguments: argparse.Namespace) -> int:
    """Run the command. Raises Violation if an invariant does not hold."""
    trace, policy = trace_of(arguments), policy_of(arguments)
    began_s = time.perf_counter()
    if arguments.faults:
        runs, facts = run_with_faults(trace, policy, arguments.seed, arguments.faults, arguments.exact_runtimes)
    else:
        replay = Replay(trace, policy, arguments.exact_runtimes, check=lambda store: Invariants(store).check)
        with progress_bar(len(trace.jobs)) as started:
            runs, facts = replay.run(started), {}
    if arguments.starts is not None:
        write_starts(arguments.starts, runs)
    print_figures(figures(trace, runs, time.perf_counter() - began_s) | facts, arguments.json)
    return 0
