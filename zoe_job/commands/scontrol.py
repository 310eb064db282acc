"""Print the names of nodes, and on the first node control jobs: scontrol."""

from __future__ import annotations

import os
import sys

from zoe_job.common.missing import refuse
from zoe_job.common.node_lists import BadNodesError, expand

_USAGE = 1


def main() -> None:
    """Run the command in the words."""
    words = sys.argv[1:]
    if words[:1] == ["show"] and words[1:2] in (["hostnames"], ["hostname"]):
        sys.exit(_hostnames(words[2] if len(words) > 2 else os.environ.get("SLURM_JOB_NODELIST", "")))
    try:
        from zoe_job.commands.calling import run_program
        from zoe_job.commands.scontrol_jobs import scontrol
    except ImportError:  # further nodes have no such programs
        refuse("only the first node of a job can do this")
    run_program(scontrol)


def _hostnames(names: str) -> int:
    try:
        print("\n".join(expand(names)))
    except BadNodesError as error:
        print(f"scontrol: {error}", file=sys.stderr)
        return _USAGE
    return 0
