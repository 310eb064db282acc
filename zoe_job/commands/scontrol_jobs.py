"""Change and show jobs: the part of scontrol that calls the API."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from zoe_job.commands.api import Api, RefusedError
from zoe_job.commands.calling import FAILED, NotHereError, is_array, job_ids, path_of, sentence_of
from zoe_job.commands.fields import show_job
from zoe_job.commands.lists import array_of_waiting, jobs_of
from zoe_job.common.slurm_options import BadOptionError
from zoe_job.common.times import seconds
from zoe_job.submission.call_options import missing_update

_CHANGES = {
    "requeue": "/requeue",
    "requeuehold": "/requeue?hold=true",
    "hold": "/hold",
    "uhold": "/hold",
    "release": "/release",
}
_IGNORED = ("-o", "--oneliner", "-Q", "--quiet", "-v", "--verbose", "-d", "--details", "-a", "--all")
_NICE_DEFAULT = 0
_RUNNING = ("CONFIGURING", "RUNNING")


def scontrol(words: Sequence[str]) -> int:
    """Return the exit code of one command of scontrol."""
    given = [word for word in words if word not in _IGNORED]
    one_line = any(word in ("-o", "--oneliner") for word in words)
    command, rest = (given[0], given[1:]) if given else ("", [])
    if command == "show" and rest[:1] in (["job"], ["jobs"], ["jobid"]):
        return _show(rest[1:], one_line)
    if command in _CHANGES:
        return _change(command, rest)
    if command == "update":
        return _update(rest)
    raise NotHereError(f"there is no `scontrol {' '.join(given[:2])}` in a job of Zoe")


def _show(words: Sequence[str], one_line: bool) -> int:
    wanted = [id_ for word in words for id_ in job_ids(_value(word), shown=True)]
    jobs, code = jobs_of(Api(), wanted or None)
    texts = [show_job(component) for job in jobs for component in job.components()]
    if one_line:
        texts = [" ".join(text.split()) for text in texts]
    if texts:
        print("\n\n".join(texts) if not one_line else "\n".join(texts))
    for entry, error in code.items():
        print(f"scontrol: error: {sentence_of(error, entry)}", file=sys.stderr)
    return FAILED if code else 0


def _change(command: str, words: Sequence[str]) -> int:
    wanted = _whole_jobs(" ".join(words), [id_ for word in words for id_ in job_ids(_value(word), shown=True)])
    if not wanted:
        raise BadOptionError(f"too few arguments for keyword:{command}")
    api = Api()
    code = 0
    if command.startswith("requeue"):
        code, wanted = _running_ids(api, wanted)
    else:
        _refuse_waiting(api, wanted, f"{command} ")
    return max(code, _apply_to_each(api, wanted, lambda job_id: api.post(path_of(job_id) + _CHANGES[command])))


def _whole_jobs(text: str, ids: list[str]) -> list[str]:
    """Return the ids. Raises NotHereError if one is a component of a heterogeneous job."""
    if "+" in text:
        raise NotHereError(f"a component of a heterogeneous job is changed with its job: name {ids[0]}")
    return ids


def _refuse_waiting(api: Api, ids: Sequence[str], command: str) -> None:
    """Refuse to change an index of an array that has not begun, which Slurm would split off, before anything is
    changed.
    """
    for id_ in ids:
        if (array := array_of_waiting(api, id_)) is not None:
            whole = array["id"]
            how = f"`scontrol {command}{whole}` applies to all waiting indices; scancel {id_} ends this one"
            raise NotHereError(f"{id_} has not begun, and is changed with its array only: {how}")


def _running_ids(api: Api, ids: Sequence[str]) -> tuple[int, list[str]]:
    """Return an exit code, and the ids, with the ids of the running indices instead of each array."""
    code = 0
    found: list[str] = []
    for id_ in ids:
        if not is_array(id_):
            found.append(id_)
            continue
        jobs, refused = jobs_of(api, [id_])
        for error in refused.values():
            print(f"scontrol: error: {sentence_of(error, id_)}", file=sys.stderr)
            code = FAILED
        running = [job.id for job in jobs if job.state in _RUNNING]
        ended = sum(job.state not in (*_RUNNING, "PENDING") for job in jobs)
        found += running
        if not running:
            print(f"scontrol: error: no index of array {id_} is running; only running ones run again", file=sys.stderr)
            code = FAILED
        elif ended:
            print(f"scontrol: {ended} indices of array {id_} have ended and do not run again", file=sys.stderr)
    return code, found


def _update(words: Sequence[str]) -> int:
    """Apply `Name=Value` to waiting jobs."""
    if odd := next((word for word in words if "=" not in word), None):
        raise BadOptionError(f"Update of this parameter is not supported: {odd}")
    given = {name.lower(): value for name, _, value in (word.partition("=") for word in words)}
    named = given.pop("jobid", "") or given.pop("job", "")
    if not named:
        raise BadOptionError("No valid entity in update command: give JobId=")
    wanted = _whole_jobs(named, list(job_ids(named, shown=True)))
    if unknown := missing_update(words):
        raise NotHereError(f"`scontrol update {unknown}=` does not exist in a job of Zoe")
    if not given:
        raise BadOptionError("no changes specified")
    holds = given.get("priority") == "0"
    body = _changes({name: text for name, text in given.items() if not (holds and name == "priority")})
    api = Api()
    _refuse_waiting(api, wanted, "update JobId=")

    def change(job_id: str) -> None:
        if body:
            api.patch(path_of(job_id), body)
        if holds:
            api.post(f"{path_of(job_id)}/hold")

    return _apply_to_each(api, wanted, change)


def _changes(given: dict[str, str]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    try:
        if "timelimit" in given:
            if given["timelimit"][:1] in ("+", "-"):
                raise BadOptionError("TimeLimit: give the longest run time; + and - do not exist in Zoe")
            body["time_limit_s"] = seconds(given["timelimit"])
        if "nice" in given:
            body["priority"] = -int(given["nice"] or _NICE_DEFAULT)
        if "priority" in given:
            body["priority"] = int(given["priority"])
    except ValueError as error:
        raise BadOptionError(f"Invalid value: {error}") from None
    return body


def _apply_to_each(api: Api, wanted: Sequence[str], change: Callable[[str], Any]) -> int:
    code = 0
    for job_id in wanted:
        try:
            change(job_id)
        except RefusedError as error:
            waits = error.code == "not_found" and array_of_waiting(api, job_id) is not None
            text = f"{job_id}: Job is pending execution" if waits else sentence_of(error, job_id)
            print(f"scontrol: error: {text}", file=sys.stderr)
            code = FAILED
    return code


def _value(word: str) -> str:
    """Return the id in `ID`, `JobId=ID` or `job=ID`."""
    return word.rpartition("=")[2]
