"""Check the times of a schedule, and report their errors with those of its document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_client.vocabulary import OverlapPolicy
from zoe_client.wire import Diagnostic
from zoe_lib.schedules.times import BadTimes, CronTimes
from zoe_lib.schedules.turns import first_after
from zoe_lib.schedules.values import Schedule
from zoe_lib.submission.refusal import SubmissionRefused

AHEAD_RUNS_MAX = 10
"""Maximum runs of a schedule that wait, submitted ahead of their times."""
_ANY_ZONE = "UTC"


def wrong_times(expression: str, zone: str) -> list[Diagnostic]:
    """Return the errors of a cron expression and of a zone."""
    found = []
    try:
        CronTimes(expression, zone)
    except BadTimes as error:
        found.append(_finding(error.field, str(error)))
        if error.field == "zone":
            found += wrong_times(expression, _ANY_ZONE)
    return found


def wrong_ahead(schedule: Schedule, now_s: float) -> list[Diagnostic]:
    """Return the errors of `ahead_s`: an earlier run could not have ended when the next one is submitted, and the
    schedule depends on that; or many runs would wait at once.
    """
    times: list[float] = []
    at_s = first_after(schedule, now_s)
    while at_s is not None and len(times) <= AHEAD_RUNS_MAX:
        times.append(at_s)
        at_s = first_after(schedule, at_s)
    # Of two runs, the earlier may begin late by the jitter, and the later may begin early.
    least_s = min((later - value for value, later in pairwise(times)), default=math.inf) - schedule.jitter_s
    found = []
    if schedule.ahead_s and schedule.ahead_s >= least_s and schedule.overlap_policy is not OverlapPolicy.ALLOW:
        why = (
            f"its runs may begin {max(least_s, 0):g} s apart, so an earlier run may not have begun when "
            "the next is submitted: set overlap to allow"
        )
        found.append(_finding("ahead_s", why))
    if len(times) > AHEAD_RUNS_MAX and times[-1] - times[0] < schedule.ahead_s:
        found.append(_finding("ahead_s", f"more than {AHEAD_RUNS_MAX} of its runs would wait at once"))
    return found


def refused_times(wrong: Sequence[Diagnostic], document: SubmissionRefused | None = None) -> ApiProblem:
    """Return the refusal of a schedule's times, with the findings on its document, if there are any."""
    errors = [*wrong]
    detail = "; ".join(diagnostic.message for diagnostic in wrong)
    if document is not None:
        whole = Diagnostic(pointer="", code=document.code, message=document.detail or document.code, hint=document.hint)
        errors += [
            error.model_copy(update={"pointer": f"/document{error.pointer}"}) for error in document.errors or [whole]
        ]
        detail = f"{detail}; its document: {document.detail}"
    return ApiProblem(Code.INVALID_SCHEDULE, detail, errors=errors)


def _finding(field: str, message: str) -> Diagnostic:
    return Diagnostic(pointer=f"/{field}", code="invalid", message=message)
