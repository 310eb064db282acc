"""List the job itself and the submissions of itself and its descendants, unless they have ended: squeue."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from zoe_job.commands.api import Api, RefusedError
from zoe_job.commands.calling import NotHereError, is_array, job_ids, run_program
from zoe_job.commands.fields import directory_of, memory_of, moment, output_of, short_span, short_state, states_of
from zoe_job.commands.lists import records_of
from zoe_job.commands.records import SHORT, JobRecord
from zoe_job.common.slurm_options import BadOptionError, Given, read
from zoe_job.submission.call_options import SQUEUE

_DEFAULT = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
_LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
_FIELD = re.compile(r"%(\.?)(\d*)([A-Za-z%>])")
_LISTED = ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING")


def main() -> None:
    """List jobs by the options."""
    run_program(squeue)


def squeue(words: Sequence[str]) -> int:
    """Print the jobs; return the exit code."""
    given, rest, unknown = read(list(_join_words(words)), dict(SQUEUE.all))
    if unknown or rest:
        raise BadOptionError(f"unrecognized option '{(unknown or rest)[0]}'")
    options = {entry.name: entry for entry in given}
    if gone := SQUEUE.missing_option(given):
        raise NotHereError(f"squeue --{gone} does not exist in a job of Zoe")
    text, header = _format(options)
    jobs = _chosen_jobs(options, whole=any(letter in _WHOLE for _, _, letter in _FIELD.findall(text)))
    lines = [] if "noheader" in options else [header]
    now_s = time.time()
    lines += [_line(text, job, now_s) for job in jobs]
    if lines:
        print("\n".join(line.rstrip() if text is _DEFAULT else line for line in lines))
    return 0


def _join_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the words, joining `-j` with its optional value."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-j", "-hj", "--jobs", "--job") and rest and not rest[0].startswith("-"):
            yield f"{word}={rest.pop(0)}" if word.startswith("--") else f"{word}{rest.pop(0)}"
        else:
            yield word


def _line(text: str, job: JobRecord, now_s: float) -> str:
    return _fill(text, lambda letter: _VALUES[letter](job, now_s))


def _format(options: Mapping[str, Given]) -> tuple[str, str]:
    """Return the format of a line, and the header."""
    if "Format" in options:
        text = _long_format(options["Format"].value or "")
    else:
        default = _LONG if "long" in options else os.environ.get("SQUEUE_FORMAT") or _DEFAULT
        text = (options["format"].value or "") if "format" in options else default
    letters = {letter for _, _, letter in _FIELD.findall(text)} - {"%"}
    if strange := sorted(letters - _VALUES.keys()):
        raise NotHereError(f"the field %{strange[0]} of squeue does not exist in a job of Zoe")
    return text, _fill(text, lambda letter: _HEADERS[letter])


def _long_format(text: str) -> str:
    parts = []
    for part in text.split(","):
        name, _, width = part.strip().partition(":")
        letter = _NAMES.get(name.lower())
        if letter is None or not (width.isdecimal() or not width):
            raise NotHereError(f"the field {part.strip()[:40]} of squeue does not exist in a job of Zoe")
        parts.append(f"%{width or 20}{letter}")
    return "".join(parts)


def _fill(text: str, value: Callable[[str], str]) -> str:
    def fill_field(found: re.Match[str]) -> str:
        right, width, letter = found.groups()
        if letter == "%":
            return "%"
        shown = value(letter)
        if not width:
            return shown
        if letter not in "iAF":  # ids are reused
            shown = shown[: int(width)]
        return shown.rjust(int(width)) if right else shown.ljust(int(width))

    return _FIELD.sub(fill_field, text)


def _chosen_jobs(options: Mapping[str, Given], *, whole: bool) -> list[JobRecord]:
    """Return the jobs that the options choose. Raises BadOptionError and RefusedError."""
    wanted = options.get("jobs") or options.get("job")
    ids = list(job_ids(wanted.value, shown=True)) if wanted is not None and wanted.value else None
    try:
        jobs = [component for job in records_of(Api(), ids, whole=whole) for component in job.components()]
    except RefusedError as error:
        if error.code not in ("not_of_job", "not_found"):
            raise
        raise RefusedError(error.status, error.code, f"Invalid job id specified ({error})") from None
    states = _states(options)
    users = _list(options, "user", "users")
    if "me" in options:
        users = [os.environ.get("USER", "")]
    names = _list(options, "name")
    found = [
        job
        for job in jobs
        if job.state in states and (users is None or job.user in users) and (names is None or job.is_named(names))
    ]
    if "array" in options or "array-unique" in options:
        found = [record for job in found for record in _single(job)]
    return _sort(found)


def _list(options: Mapping[str, Given], *names: str) -> list[str] | None:
    given = next((options[name].value for name in names if name in options), None)
    return None if given is None else [part for part in given.split(",") if part]


def _states(options: Mapping[str, Given]) -> frozenset[str]:
    given = _list(options, "states", "state")
    if given is None:
        return frozenset(_LISTED)
    if any(text.lower() == "all" for text in given):
        return frozenset(SHORT)
    return states_of(given)


def _single(job: JobRecord) -> list[JobRecord]:
    """Return a record for each waiting index."""
    from dataclasses import replace

    if "[" not in job.id or not is_array(job.array_id):
        return [job]
    try:
        return [replace(job, id=id_, task=id_.rpartition("_")[2]) for id_ in job_ids(job.id)]
    except BadOptionError:  # a list that ends with ...
        return [job]


def _sort(jobs: Sequence[JobRecord]) -> list[JobRecord]:
    """Return the jobs as squeue sorts them: by state, pending ones first, then by descending priority."""
    return sorted(jobs, key=lambda job: (_LISTED.index(job.state) if job.state in _LISTED else 9, -job.priority))


def _place(job: JobRecord, _: float) -> str:
    return f"({job.reason})" if job.state == "PENDING" else job.nodes_named


def _time_left(job: JobRecord, now_s: float) -> str:
    if job.limit_s is None:
        return "UNLIMITED"
    return short_span(max(job.limit_s - job.ran_s(now_s), 0))


def _end(job: JobRecord) -> float | None:
    if job.ended_s is not None or job.started_s is None or job.limit_s is None:
        return job.ended_s
    return job.started_s + job.limit_s


_FIELDS: dict[str, tuple[str, str, Callable[[JobRecord, float], str]]] = {
    "i": ("JOBID", "jobarrayid", lambda job, _: job.id),
    "A": ("JOBID", "jobid", lambda job, _: job.array_id if "[" in job.id else job.job_id),
    "F": ("ARRAY_JOB_ID", "arrayjobid", lambda job, _: job.array_id or job.job_id),
    "K": ("ARRAY_TASK_ID", "arraytaskid", lambda job, _: job.task or "N/A"),
    "j": ("NAME", "name", lambda job, _: job.name),
    "u": ("USER", "username", lambda job, _: job.user),
    "U": ("UID", "userid", lambda _job, _: str(os.getuid())),
    "P": ("PARTITION", "partition", lambda _job, _: "zoe"),
    "a": ("ACCOUNT", "account", lambda _job, _: "(null)"),
    "q": ("QOS", "qos", lambda _job, _: "normal"),
    "t": ("ST", "statecompact", lambda job, _: short_state(job)),
    "T": ("STATE", "state", lambda job, _: job.state),
    "M": ("TIME", "timeused", lambda job, now_s: short_span(job.ran_s(now_s))),
    "l": ("TIME_LIMIT", "timelimit", lambda job, _: "UNLIMITED" if job.limit_s is None else short_span(job.limit_s)),
    "L": ("TIME_LEFT", "timeleft", _time_left),
    "D": ("NODES", "numnodes", lambda job, _: str(job.nodes)),
    "C": ("CPUS", "numcpus", lambda job, _: str(job.cores)),
    "m": ("MIN_MEMORY", "minmemory", lambda job, _: memory_of(job)),
    "r": ("REASON", "reason", lambda job, _: job.reason),
    "R": ("NODELIST(REASON)", "reasonlist", _place),
    "N": ("NODELIST", "nodelist", lambda job, _: job.nodes_named),
    "B": ("EXEC_HOST", "batchhost", lambda job, _: job.nodes_named.partition(",")[0]),
    "p": ("PRIORITY", "priority", lambda job, _: str(job.priority)),
    "Q": ("PRIORITY", "prioritylong", lambda job, _: str(job.priority)),
    "V": ("SUBMIT_TIME", "submittime", lambda job, _: moment(job.submitted_s, "N/A")),
    "S": ("START_TIME", "starttime", lambda job, _: moment(job.started_s, "N/A")),
    "e": ("END_TIME", "endtime", lambda job, _: moment(_end(job), "N/A")),
    "Z": ("WORK_DIR", "workdir", lambda job, _: directory_of(job)),
    "E": ("DEPENDENCY", "dependency", lambda job, _: job.dependency or "(null)"),
    "k": ("COMMENT", "comment", lambda job, _: job.comment or "(null)"),
    ">": ("STDOUT", "stdout", lambda job, _: output_of(job)),  # Slurm has no letter for it
}
_WHOLE = frozenset("lLCmNBRZEke>")
"""Fields that only complete records have."""
_HEADERS = {letter: header for letter, (header, _, _) in _FIELDS.items()}
_NAMES = {name: letter for letter, (_, name, _) in _FIELDS.items()}
_VALUES = {letter: value for letter, (_, _, value) in _FIELDS.items()}
