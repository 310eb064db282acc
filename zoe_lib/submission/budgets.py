"""Check a submission against budgets, and warn its user."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.store.people import Principal
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused


def budget_warnings(place: SubmissionPlace, principal: Principal) -> Iterator[str]:
    """Yield warnings about the spending of tenant and user; SubmissionRefused if a budget that refuses is spent."""
    for budget in place.spending.budgets(place.store, principal.tenant, principal.user):
        spent = place.spending.spending_of(place.store, principal.tenant)
        if spent is None:
            continue
        so_far, hourly = spent.amounts_for(budget.user)
        if so_far * 100 < budget.amount * budget.warn_percent:
            continue
        whose = principal.tenant if budget.user is None else f"{budget.user} in {principal.tenant}"
        runs = f"; running services cost about {hourly} {spent.currency} an hour" if hourly else "; nothing runs now"
        text = f"{whose} has spent {so_far} of {budget.amount:f} {spent.currency} in {spent.month}{runs}"
        if budget.refuses and so_far >= budget.amount:
            hint = "cancel executions, wait for the next month, or ask an admin"
            raise SubmissionRefused("budget_exceeded", text, hint)
        yield f"budget: {text}"
