"""The figures of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zoe_simulator.jobs import Run, Trace

# Keeps the slowdown of very short jobs bounded; the bound of Gaussier et al., SC'15.
BOUND_S = 10.0


def bounded_slowdown(run: Run) -> float:
    """Return turnaround over run time, as if the job had taken at least ten seconds; at least one."""
    return max(1.0, run.turnaround_s / max(run.job.run_s, BOUND_S))


def figures(trace: Trace, runs: Sequence[Run], took_s: float) -> dict[str, Any]:
    """Return means over all jobs, utilisation from the first submission to the last end, and the speed of the
    replay.
    """
    slowdowns = [bounded_slowdown(run) for run in runs]
    used = sum(run.job.run_s * run.job.processors for run in runs)
    last_s = max((run.end_s for run in runs), default=0.0)
    first_s = min((run.job.submit_s for run in runs), default=0.0)
    room = (last_s - first_s) * trace.processors
    return {
        "trace": trace.name,
        "jobs": len(runs),
        "not_run": len(trace.jobs) - len(runs),
        "mean_wait_s": sum(run.wait_s for run in runs) / max(len(runs), 1),
        "mean_bounded_slowdown": sum(slowdowns) / max(len(slowdowns), 1),
        "max_bounded_slowdown": max(slowdowns, default=0.0),
        "utilisation": used / room if room else 0.0,
        "jobs_per_s": len(runs) / took_s if took_s else 0.0,
    }
