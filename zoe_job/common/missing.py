"""What exists in a job of Slurm and not here: a job that calls it has failed, whatever its script makes of the error.

Scripts trust these calls. One that goes on without their effect and ends with 0 would count as succeeded, and the jobs
that wait for it would use half of its results.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from zoe_job.common.channel import ChannelError, connect

TEXT_MAX, TEXTS_MAX = 200, 20
_FAILED = 1
PROGRAMS = ("salloc", "sbcast", "sinfo", "sprio", "sshare", "sstat")
"""Programs of Slurm that run in its jobs and do nothing here."""
API_PROGRAMS = ("sacct", "sattach", "sbatch", "scancel", "squeue")
"""Those that ask the API, which only the first node can."""


def main() -> None:
    """Refuse a program of Slurm."""
    name = Path(sys.argv[0]).name
    if name in API_PROGRAMS:
        refuse("only the first node of a job can do this")
    refuse(f"there is no {name} in a job of Zoe")


def refuse(why: str) -> NoReturn:
    """Print why this program does nothing, let the job fail in the end, and exit."""
    name = Path(sys.argv[0]).name
    report(" ".join([name, *sys.argv[1:]]))
    print(f"{name}: error: {why}; the job will end as failed", file=sys.stderr)
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
