"""How long executions run, as far as is known."""

from __future__ import annotations

import math

from zoe_lib.domain.execution import Execution, Mark


def run_s(execution: Execution) -> float:
    """Expected run time in seconds: declared, else the time limit, else for ever."""
    application = execution.application
    return application.expected_run_s or application.time_limit_s or math.inf


def end_s(execution: Execution, now_s: float) -> float:
    """When a placed execution is expected to end; one that should have ended is expected to end now."""
    return max(execution.marks[Mark.PLACED] + run_s(execution), now_s)
