"""The part of scontrol that scripts need: `scontrol show hostnames [LIST]`."""

from __future__ import annotations

import os
import sys

from zoe_job.node_lists import BadNodesError, expanded

_USAGE = 1


def main() -> None:
    """Print the names of a list, one a line."""
    words = sys.argv[1:]
    if words[:1] != ["show"] or words[1:2] not in (["hostnames"], ["hostname"]):
        print("scontrol: only `scontrol show hostnames` exists within a job; use zoe elsewhere", file=sys.stderr)
        sys.exit(_USAGE)
    names = words[2] if len(words) > 2 else os.environ.get("SLURM_JOB_NODELIST", "")
    try:
        print("\n".join(expanded(names)))
    except BadNodesError as error:
        print(f"scontrol: {error}", file=sys.stderr)
        sys.exit(_USAGE)
