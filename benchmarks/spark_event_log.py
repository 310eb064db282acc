"""Figures of an application's tasks from Spark's event log (the same as in its REST interface)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_TASK_END, _JOB_START = "SparkListenerTaskEnd", "SparkListenerJobStart"
_READ = (f'"{_TASK_END}"', f'"{_JOB_START}"')


@dataclass(frozen=True, slots=True)
class SparkFigures:
    """Sums over all tasks. run_s: seconds in which executors ran them; cpu_s: CPU seconds of that; delay_s: seconds
    between the driver and an executor, in which a task neither ran nor was read or written. began_s, ended_s:
    submission of the first job, and end of the last task, in seconds since the epoch; 0 without any.
    """

    tasks: int = 0
    run_s: float = 0.0
    cpu_s: float = 0.0
    input_bytes: int = 0
    shuffle_bytes: int = 0
    delay_s: float = 0.0
    began_s: float = 0.0
    ended_s: float = 0.0


def figures_of(directory: Path) -> SparkFigures:
    """Return the figures of the newest log in a directory, and remove it; zeros without one."""
    logs = sorted(directory.glob("app-*"), key=lambda path: path.stat().st_mtime)
    if not logs:
        return SparkFigures()
    with logs[-1].open(encoding="utf-8") as lines:
        found = sum_events(json.loads(line) for line in lines if any(event in line for event in _READ))
    for log in logs:
        log.unlink()
    return found


def sum_events(events: Iterable[dict[str, Any]]) -> SparkFigures:
    """Return the sums over ends of tasks, and the begin of jobs."""
    total = SparkFigures()
    for event in events:
        if event["Event"] == _JOB_START:
            total = replace(total, began_s=total.began_s or event["Submission Time"] / 1e3)
            continue
        metrics, info = event.get("Task Metrics") or {}, event["Task Info"]
        run_ms, got_ms = metrics.get("Executor Run Time", 0), info.get("Getting Result Time", 0)
        beside_ms = metrics.get("Executor Deserialize Time", 0) + metrics.get("Result Serialization Time", 0)
        getting_ms = info["Finish Time"] - got_ms if got_ms else 0
        whole_ms = info["Finish Time"] - info["Launch Time"]
        shuffled = metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
        total = SparkFigures(
            total.tasks + 1,
            total.run_s + run_ms / 1e3,
            total.cpu_s + metrics.get("Executor CPU Time", 0) / 1e9,
            total.input_bytes + metrics.get("Input Metrics", {}).get("Bytes Read", 0),
            total.shuffle_bytes + shuffled,
            total.delay_s + max(whole_ms - run_ms - beside_ms - getting_ms, 0) / 1e3,
            total.began_s,
            max(total.ended_s, info["Finish Time"] / 1e3),
        )
    return total
