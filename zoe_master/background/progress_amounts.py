"""Progress reported by programs: a share, an amount of a total, or the tasks of a Spark driver.

In Spark's REST interface (https://spark.apache.org/docs/3.5.9/monitoring.html#rest-api), `jobs` counts the tasks of all
jobs so far: done are the completed ones, known all but those skipped because their results exist. Their number grows as
the program begins jobs. So the share can fall only when tasks are added.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from zoe_lib.domain.executions.execution import ServiceId
from zoe_lib.domain.values.progress import NoProgress, ProgressProbe, ProgressReading, reading_of
from zoe_master.backends.base import PROGRESS_BYTES_MAX, PortAddress
from zoe_master.background.probe_answers import NoReading, ProbeAnswers

# A job takes some 700 bytes, and a driver keeps 1,000 (`spark.ui.retainedJobs`).
_JOBS_BYTES_MAX = 1 << 20
_APPLICATION_ID_MAX = 100
TASKS = "tasks known so far"


class ProgressAmounts:
    """Reads the reported progress of a service."""

    def __init__(
        self,
        address: Callable[[ServiceId, str], PortAddress],
        file: Callable[[ServiceId, str], bytes],
        answers: ProbeAnswers | None = None,
    ) -> None:
        self._address = address
        self._file = file
        self._answers = answers or ProbeAnswers()

    def read(self, probe: ProgressProbe, service: ServiceId, at_s: float) -> ProgressReading | None:
        """Return the present progress; None if there is none yet. Raises NoReading, NoProgress, BackendError."""
        if probe.spark is not None:
            return self._tasks(self._address(service, probe.spark), at_s)
        if probe.file is not None:
            return parse_progress(self._file(service, probe.file), at_s)
        return parse_progress(self._answers.ask_port(self._address(service, probe.port or ""), probe.path), at_s)

    def _tasks(self, where: PortAddress, at_s: float) -> ProgressReading | None:
        applications = _json(self._answers.ask_port(where, "/api/v1/applications"))
        first = applications[0] if isinstance(applications, list) and applications else None
        named = first.get("id") if isinstance(first, dict) else None
        # It becomes a part of a path.
        if not isinstance(named, str) or not named.replace("-", "").isalnum() or len(named) > _APPLICATION_ID_MAX:
            raise NoProgress("the port reports no Spark application")
        return tasks_of(
            _json(self._answers.ask_port(where, f"/api/v1/applications/{named}/jobs", _JOBS_BYTES_MAX)), at_s
        )


def parse_progress(content: bytes, at_s: float) -> ProgressReading | None:
    """Return the progress in a file or response: `0.42`, `42 100`, or `{"progress": 0.42}`; None if it is empty."""
    lines = content[-PROGRESS_BYTES_MAX:].strip().splitlines()
    if not lines:
        return None
    if content.lstrip().startswith(b"{"):
        found = _json(content)
        return reading_of(at_s, _number(found.get("progress") if isinstance(found, dict) else None))
    words = lines[-1].split()
    if len(words) > 2:
        raise NoProgress("it is neither a share nor `done total`")
    return reading_of(at_s, *(_amount(word) for word in words))


def tasks_of(jobs: object, at_s: float) -> ProgressReading | None:
    """Return the completed and the known tasks of a Spark driver; None before there are any."""
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise NoProgress("the list of jobs is invalid")
    done, known = 0, 0
    for job in jobs:
        completed, all_tasks = (
            _count(job, "numCompletedTasks"),
            _count(job, "numTasks") - _count(job, "numSkippedTasks"),
        )
        # Tasks that an ended job did not need, or failed to do, are no longer pending. Tasks of a repeated stage
        # complete twice.
        left = max(all_tasks - completed, 0) if job.get("status") == "RUNNING" else 0
        done, known = done + completed, known + completed + left
    return reading_of(at_s, done, known) if known > 0 else None


def _count(job: dict[str, Any], name: str) -> int:
    count = job.get(name)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 1 << 40:
        raise NoProgress(f"{name} of a job is not a number of tasks")
    return count


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise NoProgress("it is not JSON") from None


def _number(found: object) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NoProgress("it has no number as `progress`")
    try:
        return float(found)
    except OverflowError:
        return math.inf


def _amount(word: bytes) -> float:
    try:
        return float(word)
    except ValueError:
        raise NoProgress("it is not a number") from None


__all__ = ["TASKS", "NoProgress", "NoReading", "ProgressAmounts", "parse_progress", "tasks_of"]
