"""What exists in a job of Slurm and not here: a job that calls it has failed, whatever its script makes of the error.

Scripts trust these calls. One that goes on without their effect and ends with 0 would count as succeeded, and the jobs
that wait for it would use half of its results.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from zoe_job.channel import ChannelError, connect

TEXT_MAX, TEXTS_MAX = 200, 20
_FAILED = 1
PROGRAMS = ("salloc", "sacct", "sattach", "sbatch", "sbcast", "scancel", "sinfo", "sprio", "squeue", "sshare", "sstat")
"""Programs of Slurm that run in its jobs and do nothing here."""


def main() -> None:
    """Refuse a program of Slurm."""
    name = Path(sys.argv[0]).name
    report(" ".join([name, *sys.argv[1:]]))
    print(f"{name}: error: there is no {name} in a job of Zoe; the job will end as failed", file=sys.stderr)
    sys.exit(_FAILED)


def report(call: str) -> None:
    """Tell the node on which this runs, which fails the job at its end. Outside of a job, do nothing."""
    if "ZOE_SRUN" not in os.environ:
        return
    try:
        channel = connect(os.environ["ZOE_SRUN"])
        channel.send_json(b"u", call[:TEXT_MAX])
        channel.receive()  # it has noted it
        channel.close()
    except ChannelError as error:
        print(f"zoe: {error}", file=sys.stderr)
