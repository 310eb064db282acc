"""The command `zoe-sim`: the production master over simulated time."""

from __future__ import annotations

import argparse
import gc
import logging
import sys

import structlog

from zoe_master.plugins import load_plugins
from zoe_simulator.commands import generate, replay, run, study
from zoe_simulator.invariants import Violation
from zoe_simulator.jobs import TraceError

COMMANDS = (run, generate, replay, study)
_GC_THRESHOLD, _GC_GENERATIONS = 50_000, 50


def main() -> int:
    """Run one command; return 1 if an invariant does not hold, 2 for an invalid trace."""
    # The log of the master under faults is of no interest here; defects of the master are.
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # A replay creates millions of lasting values in its journal, and hardly a cycle: collecting garbage is useless.
    gc.set_threshold(_GC_THRESHOLD, _GC_GENERATIONS, _GC_GENERATIONS)
    arguments = _parser().parse_args()
    for plugin in load_plugins().unusable:
        print(f"zoe-sim: {plugin.kind} {plugin.name} of {plugin.origin} is ignored: {plugin.problem}", file=sys.stderr)
    try:
        code: int = arguments.run(arguments)
    except (TraceError, OSError) as error:
        print(f"zoe-sim: {error}", file=sys.stderr)
        return 2
    except Violation as error:
        print(f"zoe-sim: {error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="zoe-sim", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
