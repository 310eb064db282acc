"""The command `zoe-sim`: the production master over simulated time."""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from collections.abc import Sequence
from typing import Protocol

import structlog

from zoe_master.plugins import load_plugins
from zoe_simulator.commands import generate, replay, run
from zoe_simulator.jobs import TraceError

_GC_THRESHOLD, _GC_GENERATIONS = 50_000, 50


class Command(Protocol):
    """A module with a command; it sets `run`, which returns the exit code."""

    def add(self, commands: argparse._SubParsersAction[argparse.ArgumentParser], /) -> None:
        """Define the command."""


COMMANDS: tuple[Command, ...] = (run, generate, replay)


def main() -> int:
    """Run one command; return 2 for an invalid trace."""
    return run_command("zoe-sim", __doc__, COMMANDS)


def run_command(name: str, about: str | None, commands: Sequence[Command]) -> int:
    """Run the command of the arguments, and return its exit code; 2 for an invalid trace."""
    # The log of the master under faults is irrelevant here; its defects are not.
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # A replay creates millions of lasting values in its journal, and hardly a cycle: garbage collection does not help.
    gc.set_threshold(_GC_THRESHOLD, _GC_GENERATIONS, _GC_GENERATIONS)
    parser = argparse.ArgumentParser(prog=name, description=about)
    choices = parser.add_subparsers(required=True)
    for command in commands:
        command.add(choices)
    arguments = parser.parse_args()
    for plugin in load_plugins().unusable:
        print(f"{name}: {plugin.kind} {plugin.name} of {plugin.origin} is ignored: {plugin.problem}", file=sys.stderr)
    try:
        code: int = arguments.run(arguments)
    except (TraceError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
