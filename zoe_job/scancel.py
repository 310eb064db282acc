"""Cancel the job itself, or what it and its descendants submitted: scancel."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence

from zoe_job.api import Api, RefusedError
from zoe_job.call_options import SCANCEL
from zoe_job.calling import FAILED, NotHereError, is_array, job_ids, path_of, run_program
from zoe_job.job_lists import listed
from zoe_job.job_records import ENDED, SHORT, JobRecord
from zoe_job.slurm_options import BadOptionError, Given, read

_KILLS = ("KILL", "SIGKILL", "9", "TERM", "SIGTERM", "15")


def main() -> None:
    """Cancel what the words name."""
    run_program(scancel)


def scancel(words: Sequence[str]) -> int:
    """Return the exit code of one call."""
    given, ids = _split(words)
    options = {one.name: one for one in given}
    if gone := SCANCEL.lacks(given):
        raise NotHereError(f"scancel --{gone} does not exist in a job of Zoe")
    signal = options["signal"].value if "signal" in options else None
    if signal is not None and signal.upper() not in _KILLS:
        raise NotHereError(f"scancel --signal={signal}: no signal can be sent to a job of Zoe")
    wanted = [one for text in ids for one in job_ids(text)]
    filters = {"name", "jobname", "user", "me", "state", "partition", "qos"} & options.keys()
    if not wanted and not filters:
        raise BadOptionError("No job identification provided")
    api = Api()
    if filters:
        wanted = _chosen(api, options, wanted or None)
    return _cancel(api, wanted)


def _split(words: Sequence[str]) -> tuple[list[Given], list[str]]:
    """Return the options and the ids, which may come in any order."""
    given: list[Given] = []
    ids: list[str] = []
    rest = list(words)
    while rest:
        more, rest, unknown = read(rest, dict(SCANCEL.all))
        if unknown:
            raise BadOptionError(f"unrecognized option '{unknown[0]}'")
        given += more
        if rest:
            ids.append(rest.pop(0))
    return given, ids


def _chosen(api: Api, options: Mapping[str, Given], ids: Sequence[str] | None) -> list[str]:
    """Return the ids of the jobs that have not ended and that all options choose; arrays whole if they wait."""
    name = options.get("name") or options.get("jobname")
    states = {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED"}
    if "state" in options:
        by_short = {short: one for one, short in SHORT.items()}
        asked = (options["state"].value or "").upper().split(",")
        states = {by_short.get(one, one) for one in asked}
    user = options["user"].value if "user" in options else None
    own = os.environ.get("SLURM_JOB_ID", "")
    found = [
        job
        for job in listed(api, ids)
        if job.state in states - ENDED
        and (name is None or job.name in (name.value or "").split(","))
        and (user is None or job.user == user)
    ]
    return sorted(_ids(found), key=lambda one: one == own)  # itself last


def _ids(jobs: Iterable[JobRecord]) -> list[str]:
    return list(dict.fromkeys(one for job in jobs for one in ([job.array_id] if "[" in job.id else [job.id])))


def _cancel(api: Api, ids: Sequence[str]) -> int:
    """Cancel each; as in Slurm, one that has ended is no error."""
    code = 0
    for job_id in ids:
        try:
            api.post(_cancelling(job_id))
        except RefusedError as error:
            if error.code in ("already_ended", "illegal_state"):
                continue
            why = "Access/permission denied" if error.code == "not_of_job" else "Invalid job id specified"
            text = f"Kill job error on job id {job_id}: {why} ({error})"
            print(f"scancel: error: {text}", file=sys.stderr)
            code = FAILED
    return code


def _cancelling(job_id: str) -> str:
    """Return the path of a cancellation; an index of an array may not have begun, so its array is asked."""
    array_id, _, index = job_id.rpartition("_")
    if is_array(array_id) and index.isdecimal():
        return f"{path_of(array_id)}/cancel?indices={index}"
    return f"{path_of(job_id)}/cancel"
