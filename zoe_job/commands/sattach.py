"""Follow the output of a job that this one submitted: sattach."""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Sequence

from zoe_job.commands.api import Api
from zoe_job.commands.calling import NotHereError, is_array, job_ids, path_of, run_program
from zoe_job.commands.records import ENDED, JobRecord, record_of
from zoe_job.common.slurm_options import BadOptionError, read
from zoe_job.submission.call_options import SATTACH

_POLL_S = 1.0
_PIECE = 1 << 18


def main() -> None:
    """Print the output of a job until it ends."""
    run_program(sattach)


def sattach(words: Sequence[str]) -> int:
    """Return the exit code of the followed job, as Slurm's program does."""
    given, rest, unknown = read(words, dict(SATTACH.all))
    if unknown:
        raise BadOptionError(f"unrecognized option '{unknown[0]}'")
    if gone := SATTACH.missing_option(given):
        raise NotHereError(f"sattach --{gone} does not exist in a job of Zoe")
    if len(rest) != 1:
        raise BadOptionError("give one job, as JOB.STEP")
    (job_id,) = job_ids(rest[0])
    if is_array(job_id):
        raise BadOptionError(f"{job_id} is an array; name one of its indices, as {job_id}_0")
    return follow(Api(), job_id)


def follow(api: Api, job_id: str) -> int:
    """Print the output of the first service of a job, from its beginning to the end of the job."""
    offset, service = 0, ""
    while True:
        job = record_of(api.get(path_of(job_id)))
        if job.first_service != service:  # another attempt begins anew
            service, offset = job.first_service, 0
        offset = _print(api, job, offset)
        if job.state in ENDED:
            return job.exit_code or (128 + job.signal if job.signal else 0)
        time.sleep(_POLL_S)


def _print(api: Api, job: JobRecord, offset: int) -> int:
    """Print the output from an offset, and return the next offset."""
    if job.started_s is None or not job.first_service:
        return offset
    while True:
        piece = api.get(f"{path_of(job.id)}/services/{job.first_service}/logs", offset=offset, limit=_PIECE)
        data = base64.b64decode(piece["data"])
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        offset = piece["next_offset"]
        if not data:
            return offset
