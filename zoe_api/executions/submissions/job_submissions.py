"""Submissions of jobs by their tokens: recorded with their parent before they are made, within bounds."""

from __future__ import annotations

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller
from zoe_api.services.job_calls import retry_refusal
from zoe_lib.store.people import Principal
from zoe_lib.store.sql.batch.job_submissions import (
    JobBounds,
    JobStopped,
    JobSubmitsTooOften,
    JobTooDeep,
    TooManyDescendants,
)

_RETRY_MIN_S = 1.0


def note_submission(caller: Caller, new_id: str) -> None:
    """Record that a job submits an execution or array; no effect if the principal is no job. 403 if it was cancelled or
    has too many active ancestors or descendants, 429 if it submits too often.
    """
    job = caller.principal.job
    if job is None:
        return
    if job.cancelled:
        raise ApiProblem(Code.JOB_CANCELLED, f"job {job.execution_id} was cancelled")
    settings = caller.services.settings
    bounds = JobBounds(settings.job_depth_max, settings.job_descendants_max, settings.job_submissions_per_minute_max)
    try:
        caller.services.accounts.note_job_submission(new_id, job, bounds, caller.services.clock.now_s())
    except JobStopped as refused:
        raise ApiProblem(Code.JOB_CANCELLED, str(refused)) from None
    except JobTooDeep as refused:
        hint = "wait until one of them has ended, or submit it from outside of these jobs"
        raise ApiProblem(Code.JOB_TOO_DEEP, str(refused), hint) from None
    except TooManyDescendants as refused:
        hint = "wait until some have ended, or submit an array, which counts once"
        raise ApiProblem(Code.TOO_MANY_DESCENDANTS, str(refused), hint) from None
    except JobSubmitsTooOften as refused:
        raise retry_refusal(
            Code.JOB_SUBMITS_TOO_OFTEN, str(refused), max(refused.retry_after_s, _RETRY_MIN_S)
        ) from None


def was_stopped(caller: Caller) -> bool:
    """Return whether a job was cancelled with its descendants since it recorded a submission: that request did not see
    the new one, so it must be cancelled, too.
    """
    return caller.principal.job is not None and caller.services.accounts.is_stopped_job(caller.principal.job.unit)


def refused_after(principal: Principal) -> ApiProblem:
    """Return the error for a submission that was cancelled with its job."""
    return ApiProblem(Code.JOB_CANCELLED, f"{principal.job} was cancelled with its descendants")
