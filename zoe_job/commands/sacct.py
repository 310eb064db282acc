"""List how jobs went, the present one and the submissions of itself and its descendants: sacct."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from zoe_job.commands.api import Api
from zoe_job.commands.calling import NotHereError, job_ids, run_program
from zoe_job.commands.fields import directory_of, memory, memory_of, moment, span, states_of
from zoe_job.commands.lists import records_of
from zoe_job.commands.records import JobRecord
from zoe_job.commands.use import JobUse, use_of
from zoe_job.common.slurm_options import BadOptionError, Given, read
from zoe_job.submission.call_options import SACCT

_DEFAULT = "jobid,jobname,partition,account,alloccpus,state,exitcode"
_HOUR_S = 3600
_BRIEF = "jobid,state,exitcode"


def main() -> None:
    """List jobs by the options."""
    run_program(sacct)


def sacct(words: Sequence[str]) -> int:
    """Print the jobs; return the exit code. Steps are not recorded, so there are none."""
    given, rest, unknown = read(words, dict(SACCT.all))
    if unknown or rest:
        raise BadOptionError(f"unrecognized option '{(unknown or rest)[0]}'")
    options = {entry.name: entry for entry in given}
    if gone := SACCT.missing_option(given):
        raise NotHereError(f"sacct --{gone} does not exist in a job of Zoe")
    fields, unit = _fields(options), _unit(options)
    api = Api()
    jobs = _chosen_jobs(api, options)
    used = any(name in _OF_USE for name, _ in fields)
    rows = [_row(job, use_of(api, job) if used else None, fields, unit) for job in jobs]
    for line in _lines(options, fields, rows):
        print(line)
    return 0


def _unit(options: Mapping[str, Given]) -> str | None:
    """Return the unit of printed sizes. Raises BadOptionError."""
    if "units" not in options:
        return None
    unit = (options["units"].value or "").upper()
    if unit not in ("K", "M", "G", "T"):
        raise BadOptionError(f"Invalid units: {unit}; use K, M, G or T")
    return unit


def _row(job: JobRecord, use: JobUse | None, fields: Sequence[tuple[str, int]], unit: str | None) -> list[str]:
    found = []
    for name, _ in fields:
        if name == "reqmem" and unit is not None:
            found.append(memory(job.memory_mib * 1024, unit))
        elif name in _OF_USE:
            found.append("" if use is None else _OF_USE[name](use, unit))
        else:
            found.append(_VALUES[name](job))
    return found


def _fields(options: Mapping[str, Given]) -> list[tuple[str, int]]:
    """Return the names of the columns and their widths; negative: left-aligned."""
    asked = options.get("format") or options.get("fields")
    default = _BRIEF if "brief" in options else os.environ.get("SACCT_FORMAT") or _DEFAULT
    found: list[tuple[str, int]] = []
    for part in ((asked.value or "") if asked is not None else default).split(","):
        name, _, width = part.strip().partition("%")
        key = name.lower()
        if key not in _HEADS or not (width.lstrip("-").isdecimal() or not width):
            raise NotHereError(f"the field {part.strip()[:40]} of sacct does not exist in a job of Zoe")
        found.append((key, int(width) if width else _WIDTHS.get(key, 10)))
    return found


def _chosen_jobs(api: Api, options: Mapping[str, Given]) -> list[JobRecord]:
    wanted = options.get("jobs") or options.get("job")
    ids = list(job_ids(wanted.value or "", shown=True)) if wanted is not None else None
    jobs = [component for job in records_of(api, ids, whole=True) for component in job.components()]
    if "state" in options:
        states = states_of((options["state"].value or "").split(","))
        jobs = [job for job in jobs if job.state in states]
    if "name" in options:
        jobs = [job for job in jobs if job.is_named((options["name"].value or "").split(","))]
    user = options.get("user") or options.get("uid")
    if user is not None:
        jobs = [job for job in jobs if job.user in (user.value or "").split(",")]
    return jobs


def _lines(options: Mapping[str, Given], fields: Sequence[tuple[str, int]], rows: Sequence[Sequence[str]]) -> list[str]:
    heads = [] if "noheader" in options else [[_HEADS[name] for name, _ in fields]]
    if "parsable" in options or "parsable2" in options:
        mark = (options["delimiter"].value or "|") if "delimiter" in options else "|"
        return [mark.join(row) + ("" if "parsable2" in options else mark) for row in [*heads, *rows]]
    ruled = [*heads, ["-" * abs(width) for _, width in fields]] if heads else []
    return [
        " ".join(_cut(text, width) for text, (_, width) in zip(row, fields, strict=True)) + " "
        for row in [*ruled, *rows]
    ]


def _cut(text: str, width: int) -> str:
    """Return a text in a column; as in sacct, a truncated one ends with `+`."""
    size = abs(width)
    text = text if len(text) <= size else f"{text[: size - 1]}+"
    return text.ljust(size) if width < 0 else text.rjust(size)


def _fine_span(seconds: float) -> str:
    """Return CPU time as sacct prints it: below an hour with milliseconds."""
    if seconds >= _HOUR_S:
        return span(seconds)
    return f"{int(seconds) // 60:02}:{seconds % 60:06.3f}"


def _state(job: JobRecord) -> str:
    return f"CANCELLED by {os.getuid()}" if job.state == "CANCELLED" else job.state


_FIELDS: dict[str, Callable[[JobRecord], str]] = {
    "JobID": lambda job: job.id,
    "JobIDRaw": lambda job: job.job_id,
    "JobName": lambda job: job.name,
    "User": lambda job: job.user,
    "Account": lambda _: "",
    "Partition": lambda _: "zoe",
    "QOS": lambda _: "normal",
    "Cluster": lambda _: "zoe",
    "State": _state,
    "ExitCode": lambda job: f"{job.exit_code}:{job.signal}",
    "Elapsed": lambda job: span(job.ran_s()),
    "ElapsedRaw": lambda job: str(int(job.ran_s())),
    "CPUTime": lambda job: span(int(job.ran_s()) * job.cores),
    "CPUTimeRAW": lambda job: str(int(job.ran_s()) * job.cores),
    "Timelimit": lambda job: "UNLIMITED" if job.limit_s is None else span(job.limit_s),
    "Submit": lambda job: moment(job.submitted_s),
    "Start": lambda job: moment(job.started_s),
    "End": lambda job: moment(job.ended_s),
    "AllocCPUS": lambda job: str(job.cores),
    "NCPUS": lambda job: str(job.cores),
    "ReqCPUS": lambda job: str(job.cores),
    "ReqMem": memory_of,
    "NNodes": lambda job: str(job.nodes),
    "AllocNodes": lambda job: str(job.nodes),
    "NodeList": lambda job: job.nodes_named or "None assigned",
    "Priority": lambda job: str(job.priority),
    "Reason": lambda job: job.reason,
    "WorkDir": directory_of,
    "Comment": lambda job: job.comment,
}
_VALUES = {name.lower(): value for name, value in _FIELDS.items()}
_USES: dict[str, Callable[[JobUse, str | None], str]] = {
    "MaxRSS": lambda use, unit: memory(use.peak_bytes // 1024, unit),
    "MaxRSSNode": lambda use, _: use.node,
    "AveRSS": lambda use, unit: memory(use.average_bytes // 1024, unit),
    "TotalCPU": lambda use, _: _fine_span(use.cpu_s),
}
_OF_USE = {name.lower(): value for name, value in _USES.items()}
_HEADS = {name.lower(): name for name in (*_FIELDS, *_USES)}
_WIDTHS = {
    "jobid": -22,
    "jobidraw": -22,
    "submit": 19,
    "start": 19,
    "end": 19,
    "nodelist": 15,
    "exitcode": 8,
    "user": 9,
    "nnodes": 8,
}
