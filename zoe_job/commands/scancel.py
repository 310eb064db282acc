"""Cancel the job itself, or submissions of itself and its descendants: scancel."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from zoe_job.commands.api import Api, RefusedError
from zoe_job.commands.calling import FAILED, NotHereError, is_array, job_ids, path_of, run_program
from zoe_job.commands.lists import records_of
from zoe_job.commands.records import ENDED, SHORT
from zoe_job.common.slurm_options import BadOptionError, Given, read
from zoe_job.submission.call_options import SCANCEL

_LONG = {"PENDING": ("PENDING",), "RUNNING": ("CONFIGURING", "RUNNING"), "SUSPENDED": ("SUSPENDED",)}
_STATES = {**_LONG, **{SHORT[name]: states for name, states in _LONG.items()}}
_PASSES_MAX = 20
_KILLS = ("KILL", "SIGKILL", "9", "TERM", "SIGTERM", "15")


def main() -> None:
    """Cancel the named jobs."""
    run_program(scancel)


def scancel(words: Sequence[str]) -> int:
    """Return the exit code of one call."""
    given, ids = _split(words)
    options = {entry.name: entry for entry in given}
    if gone := SCANCEL.missing_option(given):
        raise NotHereError(f"scancel --{gone} does not exist in a job of Zoe")
    signal = options["signal"].value if "signal" in options else None
    if signal is not None and signal.upper() not in _KILLS:
        raise NotHereError(f"scancel --signal={signal}: no signal can be sent to a job of Zoe")
    wanted = [id_ for text in ids for id_ in job_ids(text)]
    filters = {"name", "jobname", "user", "me", "state", "partition", "qos"} & options.keys()
    if not wanted and not filters:
        raise BadOptionError("No job identification provided")
    api = Api()
    return _cancel_chosen(api, options, wanted or None) if filters else _cancel(api, wanted)


def _split(words: Sequence[str]) -> tuple[list[Given], list[str]]:
    """Return the options and the ids, which may be in any order."""
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


def _cancel_chosen(api: Api, options: Mapping[str, Given], ids: Sequence[str] | None) -> int:
    """Cancel the jobs that all options choose, until a pass finds no more, since jobs may submit others meanwhile; the
    job itself last.
    """
    own, code = os.environ.get("SLURM_JOB_ID", ""), 0
    done: set[str] = set()
    with_own = False
    for _ in range(_PASSES_MAX):
        found = _chosen_ids(api, options, ids)
        with_own = with_own or own in found
        wanted = [text for text in found if text != own and text not in done]
        if not wanted:
            break
        code = max(code, _cancel(api, wanted))
        done.update(wanted)
    else:
        print("scancel: error: new jobs are submitted faster than they are cancelled", file=sys.stderr)
        code = FAILED
    return max(code, _cancel(api, [own])) if with_own else code


def _chosen_ids(api: Api, options: Mapping[str, Given], ids: Sequence[str] | None) -> list[str]:
    """Return the ids of the unfinished jobs that all options choose."""
    name = options.get("name") or options.get("jobname")
    states = _states(options["state"].value or "") if "state" in options else None
    user = options["user"].value if "user" in options else None
    found = [
        job
        for job in records_of(api, ids)
        if job.state not in ENDED
        and (states is None or job.state in states)
        and (name is None or job.is_named((name.value or "").split(",")))
        and (user is None or job.user == user)
    ]
    return list(dict.fromkeys(job.array_id if "[" in job.id and states is None else job.id for job in found))


def _states(text: str) -> set[str]:
    """Return the states of `--state`. Raises BadOptionError as in Slurm."""
    if strange := next((part for part in text.upper().split(",") if part not in _STATES), None):
        raise BadOptionError(f"Invalid job state specified: {strange}\nValid job states are {', '.join(_LONG)}")
    return {state for part in text.upper().split(",") for state in _STATES[part]}


def _cancel(api: Api, ids: Sequence[str]) -> int:
    """Cancel each; as in Slurm, an ended job is not an error."""
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
    """Return the path of a cancellation; indices of an array may not have begun, so it is sent to their array."""
    array_id, _, indices = job_id.partition("_")
    indices = indices.strip("[]").removesuffix(",...")  # the next pass cancels the rest of a long list
    if is_array(array_id) and indices and "r" not in indices:
        return f"{path_of(array_id)}/cancel?indices={indices}"
    return f"{path_of(job_id)}/cancel"
