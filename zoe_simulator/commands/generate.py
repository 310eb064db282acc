"""`zoe-sim generate`: write a log drawn from the Lublin-Feitelson model."""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from zoe_simulator.commands.arguments import not_negative, positive
from zoe_simulator.formats.swf import swf_lines
from zoe_simulator.lublin import ALL, BATCH, INTERACTIVE, generate

_KINDS = {"all": (ALL,), "batch": (BATCH,), "interactive": (INTERACTIVE,), "both": (BATCH, INTERACTIVE)}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Define the command."""
    parser = commands.add_parser("generate", help="write a log drawn from a workload model", description=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("file", type=Path, help="file to write, in the Standard Workload Format; may end in .gz")
    parser.add_argument("--jobs", type=positive, default=10_000, metavar="N", help="number of jobs [10000]")
    parser.add_argument("--processors", type=positive, default=128, metavar="P", help="processors of the machine [128]")
    parser.add_argument("--seed", type=int, default=1, help="seed; equal seeds give equal files [1]")
    parser.add_argument(
        "--overestimate", type=not_negative, default=0.0, metavar="F", help="request 1 to 1 + F times the run time [0]"
    )
    parser.add_argument(
        "--kinds",
        choices=list(_KINDS),
        default="all",
        help="parameters of the model: of all jobs, or by kind of use [all]",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    path: Path = arguments.file
    trace = generate(
        arguments.jobs, arguments.processors, arguments.seed, arguments.overestimate, _KINDS[arguments.kinds]
    )
    drawn = f"kinds {arguments.kinds}, seed {arguments.seed}, overestimate {arguments.overestimate:g}"
    lines = swf_lines(trace, f"Lublin-Feitelson model, {drawn}")
    data = "".join(f"{line}\n" for line in lines).encode()
    # It contains neither a time nor a name: the same seed gives the same bytes.
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    print(f"{path}: {len(trace.jobs)} jobs for {arguments.processors} processors")
    return 0
