"""Programs and calls of Slurm that Zoe lacks: a job that calls one fails, even if its script ignores the error.

Scripts rely on these calls. A script that continues without their effect and exits with 0 would count as succeeded, and
dependent jobs would use incomplete results.
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
"""Programs that call the API, which only the first node can."""


def main() -> None:
    """Refuse a program of Slurm."""
    name = Path(sys.argv[0]).name
    if name in API_PROGRAMS:
        refuse("only the first node of a job can do this")
    refuse(f"there is no {name} in a job of Zoe")


def refuse(why: str) -> NoReturn:
    """Print why this program does nothing, fail the job at its end, and exit."""
    name = Path(sys.argv[0]).name
    report(" ".join([name, *sys.argv[1:]]))
    print(f"{name}: error: {why}; the job will end as failed", file=sys.stderr)
    sys.exit(_FAILED)


def report(call: str) -> None:
    """Report the call to the node of this program, which fails the job at its end. Outside of a job, do nothing."""
    if "ZOE_SRUN" not in os.environ:
        return
    try:
        channel = connect(os.environ["ZOE_SRUN"])
        channel.send_json(b"u", call[:TEXT_MAX])
        channel.receive()  # it has recorded it
        channel.close()
    except ChannelError as error:
        print(f"zoe: {error}", file=sys.stderr)
