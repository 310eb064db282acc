"""Estimate the price of an application."""

from __future__ import annotations

from decimal import Decimal

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.metering import expected_use
from zoe_lib.pricing.expressions import ExpressionError
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.statement import charge


def estimate(
    application: Application, tenant: str, user: str, run_s: float, prices: PriceList
) -> tuple[Decimal, tuple[str, ...]]:
    """Return the price if all its services run for that time, and the meters without a price; without discounts."""
    total, gaps = Decimal(0), []
    for use in expected_use(application, tenant, user, run_s):
        try:
            total += charge(use, prices)[1]
        except ExpressionError as error:
            gaps.append(f"not priced: {use.meter}{f' of {use.device}' if use.device else ''}: {error}")
    return total, tuple(gaps)
