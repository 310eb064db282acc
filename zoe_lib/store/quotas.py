"""Apply limits to a new execution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.limits import Limits
from zoe_lib.store.errors import IdempotencyConflict, QuotaExceeded, TimeLimitTooLong


def apply_limits(execution: Execution, limits: Limits, executions: int, executions_of_user: int) -> Execution:
    """Return the execution with its limits applied; the counts do not include it.

    Raises TimeLimitTooLong, which waiting does not help, before QuotaExceeded.
    """
    application, notes = with_time_limit(execution.application, execution.tenant, limits)
    check_counts(execution.tenant, execution.user, limits, executions, executions_of_user)
    if application is execution.application:
        return execution
    return replace(execution, application=application, notes=(*execution.notes, *notes))


def with_time_limit(application: Application, tenant: str, limits: Limits) -> tuple[Application, Sequence[str]]:
    """Return the application, with a time limit if it has none, and a note to its user: the default one, else the
    longest of the tenant.

    Raises TimeLimitTooLong if it requests a longer one.
    """
    asked_s, longest_s = application.time_limit_s, limits.for_subject(tenant).time_limit_s
    default_s = limits.default_time_limit_of(tenant)
    if default_s is None or (asked_s is not None and (longest_s is None or asked_s <= longest_s)):
        return application, ()
    if asked_s is not None and longest_s is not None:
        raise TimeLimitTooLong(f"the time limit is {_text(asked_s)}; the maximum for {tenant} is {_text(longest_s)}")
    which = f"the longest that {tenant} may have" if default_s == longest_s else "the default"
    note = f"no time limit is set: it gets {which}, {_text(default_s)}"
    return replace(application, time_limit_s=default_s), (note,)


def check_counts(tenant: str, user: str, limits: Limits, executions: int, executions_of_user: int) -> None:
    """Raise QuotaExceeded if the user may not have one more execution in the tenant."""
    for holder, limit, there in (
        (tenant, limits.for_subject(tenant), executions),
        (f"{user} in {tenant}", limits.for_subject(tenant, user), executions_of_user),
    ):
        if limit.executions is not None and there >= limit.executions:
            raise QuotaExceeded(holder, limit.executions)


def room_for(tenant: str, user: str, limits: Limits, executions: int, executions_of_user: int) -> int | None:
    """Return how many more executions the user may have in the tenant; None: any number."""
    pairs = (
        (limits.for_subject(tenant).executions, executions),
        (limits.for_subject(tenant, user).executions, executions_of_user),
    )
    return min((max(most - there, 0) for most, there in pairs if most is not None), default=None)


def check_owner(stored: Execution | Array, user: str) -> None:
    """Raise IdempotencyConflict if another user of the tenant submitted this with the same key."""
    if stored.user != user:
        raise IdempotencyConflict("the idempotency key was used for a different request")


def same_submission(stored: Execution, submission: Execution) -> bool:
    """Return whether the stored execution with this id is the same request of the same user.

    The stored one may have got its time limit from the tenant's limits.
    """
    application = submission.application
    if application.time_limit_s is None:
        application = replace(application, time_limit_s=stored.application.time_limit_s)
    return (stored.tenant, stored.user, stored.application) == (submission.tenant, submission.user, application)


def _text(seconds: float) -> str:
    """Return seconds in the form of descriptions, with all digits, and hours as in limits."""
    return f"{seconds:.15g} s ({seconds / 3600:.6g} h)"
