"""Prices before a submission: the expected cost, and whether the budget allows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from zoe_api.http.metrics import BUDGET_REFUSED, BUDGET_WARNED
from zoe_api.services.dependencies import Caller, Services
from zoe_client.wire import EstimateView, PriceView, RunTimeView
from zoe_lib.domain.applications.application import Application
from zoe_lib.pricing.estimate import estimate
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.statement import gaps
from zoe_lib.run_times.samples import with_elastic
from zoe_lib.store.people import Principal
from zoe_lib.submission.budgets import budget_warnings
from zoe_lib.submission.closing import check_open
from zoe_lib.submission.pricing import run_time_of
from zoe_lib.submission.refusal import SubmissionRefused


def check_budget(caller: Caller) -> tuple[str, ...]:
    """Return warnings on the spending of the tenant and the user; 403 if a refusing budget is spent, or while no
    submissions are taken.
    """
    check_open(caller.store.terms(caller.request.state.terms).policy, caller.principal)
    try:
        warnings = tuple(budget_warnings(caller.services, caller.principal))
    except SubmissionRefused:
        BUDGET_REFUSED.inc()
        raise
    BUDGET_WARNED.inc(len(warnings))
    return warnings


def budget_notes(caller: Caller) -> tuple[str, ...]:
    """Return the same warnings; a refusal is a note, since a question costs nothing."""
    try:
        check_open(caller.store.terms(caller.request.state.terms).policy, caller.principal)
        return tuple(budget_warnings(caller.services, caller.principal))
    except SubmissionRefused as refused:
        return (f"a submission would be refused now: {refused.detail}",)


def price_of(caller: Caller, application: Application, forecast_s: float | None) -> EstimateView | None:
    """Return the price of an application, per hour if its run time is unknown; None without a price list."""
    prices = caller.services.spending.prices(caller.store)
    if prices is None:
        return None
    run_s, basis = run_time_of(application, forecast_s)
    return _estimate_view(application, caller.principal, run_s, basis, prices)


def run_times_of(caller: Caller, application: Application, choices: Collection[Mapping[str, Any]]) -> list[RunTimeView]:
    """Return the run time of an application with some of its elastic services, each with its price. `choices`: the
    master's answer, `RunTimeChoice` as JSON.
    """
    prices = caller.services.spending.prices(caller.store) if choices else None
    found = [RunTimeView(**choice) for choice in choices]
    if prices is not None:
        for entry in found:
            given = with_elastic(application, entry.elastic)
            entry.price = _estimate_view(given, caller.principal, entry.p50_s, "forecast", prices)
    return found


def _estimate_view(
    application: Application, principal: Principal, run_s: float, basis: str, prices: PriceList
) -> EstimateView:
    amount, gaps = estimate(application, principal.tenant, principal.user, run_s, prices)
    return EstimateView(amount=f"{amount:f}", currency=prices.currency, gaps=list(gaps), run_s=run_s, basis=basis)


def prices_of(services: Services, ids: Collection[str], now_s: float) -> Mapping[str, Mapping[str, object]]:
    """Return the cost of executions so far, and the part for unused reservations, as fields of their views."""
    lists = services.store.billing.price_lists()
    if not lists or not ids:
        return {}
    zone, currency = lists[0].prices.zone, lists[0].prices.currency
    found: dict[str, Mapping[str, object]] = {}
    for execution_id, lines in services.store.billing.charges_of(ids, now_s).items():
        amount = sum((line.total for line in lines), Decimal(0))
        sampled = [line.unused for line in lines if line.unused is not None]
        found[execution_id] = {
            "price": PriceView(amount=f"{amount:f}", currency=currency, gaps=list(gaps(lines, zone))),
            "unused": f"{sum(sampled, Decimal(0)):f}" if sampled else None,
        }
    return found
