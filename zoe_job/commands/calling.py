"""Common parts of Slurm's programs inside a job: ids, errors, and exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from zoe_job.commands.api import NoApiError, RefusedError
from zoe_job.common.missing import report
from zoe_job.common.slurm_options import BadOptionError

FAILED = 1
_ARRAY = re.compile(r"a[0-9a-z]+")
_RANGE = re.compile(r"(a[0-9a-z]+)_\[?([0-9,\-:%]+)\]?")
_INDEX = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_TASKS_MAX = 10_000
_DENIED = ("not_of_job", "not_found", "no_such_route")


class NotHereError(Exception):
    """A call, or an option, that exists in Slurm only; the job fails at its end."""


def run_program(main: Callable[[list[str]], int]) -> None:
    """Run a program of Slurm with the words of the command line, and exit with its code.

    A feature that Zoe lacks fails the job, even if its script ignores the error.
    """
    name, words = Path(sys.argv[0]).name, sys.argv[1:]
    try:
        code = main(words)
    except (NotHereError, NoApiError) as error:
        report(" ".join([name, *words]))
        print(f"{name}: error: {error}; the job will end as failed", file=sys.stderr)
        code = FAILED
    except (BadOptionError, RefusedError) as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        code = FAILED
    except BrokenPipeError:  # as with `squeue | head`
        code = FAILED
        sys.stderr.close()
    sys.exit(code)


def is_array(job_id: str) -> bool:
    """Return whether an id belongs to a whole array."""
    return _ARRAY.fullmatch(job_id) is not None


def job_ids(text: str, *, shown: bool = False) -> Iterator[str]:
    """Yield the ids in a list with commas; `ARRAY_[1-3,7]` stands for each index. A component `ID+N` of a heterogeneous
    job stands for the job if it is only `shown`, or the first. Raises BadOptionError.
    """
    for part in re.split(r",(?![^\[]*\])", text):
        one, plus, component = part.strip().split(".")[0].partition("+")  # a step is a part of its job
        if plus and not component.isdecimal():
            raise BadOptionError(f"Invalid job id specified: {part.strip()[:64]!r}")
        if plus and not shown and int(component):
            raise BadOptionError(
                f"Operation not permitted on individual component of heterogeneous job: {part.strip()}"
            )
        found = _RANGE.fullmatch(one)
        if found is None:
            if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", one):
                raise BadOptionError(f"Invalid job id specified: {part.strip()[:64]!r}")
            yield one
            continue
        yield from (f"{found[1]}_{index}" for index in _indices(found[2]))


def _indices(text: str) -> Iterator[int]:
    for part in text.partition("%")[0].split(","):
        found = _INDEX.fullmatch(part)
        if found is None:
            raise BadOptionError(f"Invalid job array specification: {text[:64]}")
        first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        if step == 0 or last - first > _TASKS_MAX * step:
            raise BadOptionError(f"Invalid job array specification: {text[:64]}")
        yield from range(first, last + 1, step)


def sentence_of(error: RefusedError, job_id: str) -> str:
    """Return Slurm's message for a refusal about a job, with Zoe's."""
    if error.code in _DENIED:
        return f"Invalid job id specified for job {job_id} ({error})"
    if error.code == "already_ended":
        return f"Job/step already completing or completed for job {job_id} ({error})"
    return f"job {job_id}: {error}"


def path_of(job_id: str) -> str:
    """Return the path of a job in the API."""
    return f"/arrays/{job_id}" if is_array(job_id) else f"/executions/{job_id}"
