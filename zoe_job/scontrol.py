"""The part of scontrol that is there: `scontrol show hostnames [LIST]`."""

from __future__ import annotations

import os
import sys

from zoe_job.missing import report
from zoe_job.node_lists import BadNodesError, expanded

_USAGE = 1


def main() -> None:
    """Print the names of a list, one a line."""
    words = sys.argv[1:]
    if words[:1] != ["show"] or words[1:2] not in (["hostnames"], ["hostname"]):
        report(" ".join(["scontrol", *words]))
        print(
            "scontrol: error: only `scontrol show hostnames` exists in a job of Zoe; the job will end as failed",
            file=sys.stderr,
        )
        sys.exit(_USAGE)
    names = words[2] if len(words) > 2 else os.environ.get("SLURM_JOB_NODELIST", "")
    try:
        print("\n".join(expanded(names)))
    except BadNodesError as error:
        print(f"scontrol: {error}", file=sys.stderr)
        sys.exit(_USAGE)
