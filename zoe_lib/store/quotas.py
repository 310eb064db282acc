"""What limits do with a new execution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zoe_lib.domain.application import Application
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.limits import Limits
from zoe_lib.store.base import QuotaExceeded, TimeLimitTooLong


def admitted(execution: Execution, limits: Limits, executions: int, executions_of_user: int) -> Execution:
    """The execution as the limits let it in; how many there are is counted without it.

    TimeLimitTooLong, which waiting does not help, before QuotaExceeded.
    """
    application, notes = with_time_limit(execution.application, execution.tenant, limits)
    check_counts(execution.tenant, execution.user, limits, executions, executions_of_user)
    return replace(execution, application=application, notes=(*execution.notes, *notes))


def with_time_limit(application: Application, tenant: str, limits: Limits) -> tuple[Application, Sequence[str]]:
    """The application, with the longest time limit of its tenant if it asks for none, and what its user is told.

    TimeLimitTooLong when it asks for a longer one.
    """
    asked_s, longest_s = application.time_limit_s, limits.of(tenant).time_limit_s
    if longest_s is None or (asked_s is not None and asked_s <= longest_s):
        return application, ()
    if asked_s is not None:
        raise TimeLimitTooLong(f"the time limit is {_text(asked_s)}; the maximum for {tenant} is {_text(longest_s)}")
    note = f"no time limit is set: it gets the longest that {tenant} may have, {_text(longest_s)}"
    return replace(application, time_limit_s=longest_s), (note,)


def check_counts(tenant: str, user: str, limits: Limits, executions: int, executions_of_user: int) -> None:
    """QuotaExceeded when one more of the user in the tenant is refused."""
    for holder, limit, there in (
        (tenant, limits.of(tenant), executions),
        (f"{user} in {tenant}", limits.of(tenant, user), executions_of_user),
    ):
        if limit.executions is not None and there >= limit.executions:
            raise QuotaExceeded(holder, limit.executions)


def same_submission(stored: Execution, submission: Execution) -> bool:
    """Whether that is what was stored with this id: what it asks for, of the same user.

    The stored one may have the time limit of a limit.
    """
    application = submission.application
    if application.time_limit_s is None:
        application = replace(application, time_limit_s=stored.application.time_limit_s)
    return (stored.tenant, stored.user, stored.application) == (submission.tenant, submission.user, application)


def _text(seconds: float) -> str:
    """Seconds as descriptions say them, all their digits, and hours as limits are set."""
    return f"{seconds:.15g} s ({seconds / 3600:.6g} h)"
