"""Submit a script inside a job, as the owner of the job: sbatch."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zoe_job.commands.api import Api
from zoe_job.commands.calling import FAILED, NotHereError, is_array, path_of, run_program
from zoe_job.commands.exported import changed_variables
from zoe_job.commands.lists import records_of
from zoe_job.commands.records import ENDED
from zoe_job.common.slurm_options import SBATCH, BadOptionError, Given
from zoe_job.submission.batch_script import judge, read_script
from zoe_job.submission.conflicts import whole_request
from zoe_job.submission.draft import job_draft, job_of
from zoe_job.submission.group_options import other_groups, read_groups
from zoe_job.submission.request import JobRequest, request_of
from zoe_job.submission.script_lines import read_lines
from zoe_job.submission.sourced_files import BYTES_MAX, add_calls
from zoe_job.submission.start_times import begin_fields, deadline_fields

_OWN = {"image": ("", "="), "loose": ("", ".")}
_POLL_S = 2.0


def main() -> None:
    """Submit a script."""
    run_program(sbatch)


def sbatch(words: Sequence[str]) -> int:
    """Submit the job of the words and the `#SBATCH` lines; return the exit code."""
    given, more, rest, unknown = read_groups(words, {**SBATCH, **_OWN})
    if unknown:
        raise BadOptionError(f"unrecognized option '{unknown[0]}'")
    own = {entry.name: entry.value for entry in given if entry.name in _OWN}
    options = [entry for entry in given if entry.name not in _OWN]
    on_line, _ = request_of(options)
    title, script, arguments = read_script(rest, on_line)
    lines = read_lines(script)
    of_first = [*lines.given, *options]
    request, found = whole_request(of_first)
    others, findings = other_groups(request, of_first, lines.others, more)
    found += findings
    directory = request.chdir if request.chdir is not None else _below_workspace(Path.cwd())
    add_calls(lines, script, directory, _text_of)
    verdict = judge(title, lines, found)
    if verdict.refused or (verdict.wrong and "loose" not in own):
        print(*verdict.texts, sep="\n", file=sys.stderr)
        raise NotHereError("Batch job submission failed: not understood")
    if request.test_only:
        raise NotHereError("sbatch --test-only does not exist in a job of Zoe")
    _surround(request, of_first)
    job = replace(job_of(request, lines, title, others), submit_directory=_below_workspace(Path.cwd()))
    document = job_draft(script, arguments, job, request, own.get("image") or os.environ.get("ZOE_IMAGE"))
    return _submit(Api(), {"application": document, **_fields(request)}, request)


def _text_of(path: str) -> str | None:
    """Return the text of a file of the workspace; None if it cannot be read, or is too long."""
    place = Path(os.environ.get("HOME", "/"), path)
    try:
        return place.read_text() if place.is_file() and place.stat().st_size <= BYTES_MAX else None
    except (OSError, UnicodeDecodeError):
        return None


def _surround(request: JobRequest, given: Sequence[Given]) -> None:
    """Let the job start in the present directory, with the variables that its script has set, unless options say
    otherwise.
    """
    request.chdir = _below_workspace(Path.cwd()) if request.chdir is None else request.chdir
    asked = [entry.value or "" for entry in given if entry.name == "export"]
    if not asked or "ALL" in asked[-1].split(","):
        request.export = {**changed_variables(), **request.export}


def _below_workspace(directory: Path) -> str | None:
    """Return a directory as its path below the workspace, which has another path on other nodes; None: the
    workspace.
    """
    try:
        below = directory.relative_to(Path(os.environ.get("HOME", "/")).resolve())
    except ValueError:
        return str(directory)
    return None if below == Path() else str(below)


def _fields(request: JobRequest) -> Mapping[str, Any]:
    try:
        times = {**begin_fields(request.begin), **deadline_fields(request.deadline)}
    except ValueError as error:
        raise BadOptionError(str(error)) from None
    given = {
        "indices": request.array,
        "after": list(request.dependency),
        "keep": request.keep and bool(request.dependency),
        "hold": request.hold,
        "priority": request.wanted_priority,
        **times,
    }
    return {name: value for name, value in given.items() if value not in (None, [], False)}


def _submit(api: Api, body: Mapping[str, Any], request: JobRequest) -> int:
    made = api.post("/arrays" if request.array is not None else "/executions", body, key=secrets.token_hex(16))
    job_id = made["id"]
    for text in made["notes"]:
        print(f"sbatch: {text}", file=sys.stderr)
    if request.parsable:
        print(job_id)
    elif not request.quiet:
        print(f"Submitted batch job {job_id}")
    sys.stdout.flush()
    return _wait(api, job_id) if request.wait else 0


def _wait(api: Api, job_id: str) -> int:
    """Return the largest exit code, after the job, or all indices of the array, have ended."""
    while True:
        jobs = records_of(api, [job_id])
        open_array = is_array(job_id) and api.get(path_of(job_id))["ended_at_s"] is None
        if not open_array and all(job.state in ENDED for job in jobs):
            return max((job.exit_code or (FAILED if job.state != "COMPLETED" else 0) for job in jobs), default=0)
        time.sleep(_POLL_S)
