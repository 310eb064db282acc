"""Price lists, statements and budgets. Amounts of money are texts with all their digits, such as 3.20."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from zoe_client.wire.base import Numbers, Wire

_AMOUNT = r"^\d{1,12}(\.\d{1,6})?$"


class PriceListView(Wire):
    """A price list as it was set."""

    id: int
    from_s: float = Field(description="Time from which it applies.")
    holds: bool = Field(description="Whether it applies now.")
    set_at_s: float
    set_by: str
    replaced_at_s: float | None = Field(description="Time at which it was replaced or removed, before it applied.")
    document: dict[str, Any]


class PriceListList(Wire):
    """Price lists, ordered by the time from which they apply."""

    price_lists: list[PriceListView]


class PriceListRequest(Wire):
    """A price list to set or to check."""

    document: dict[str, Any]
    past: bool = Field(default=False, description="Allow a beginning in the past, in a month that is not closed.")


class StatementLineView(Wire):
    """A line of a statement: the quantity of one meter for a user's executions of one application, under one price
    list.
    """

    tenant: str
    user: str
    application: str
    meter: str
    device: str = Field(description="The kind of device, for device hours.")
    from_s: float
    to_s: float
    quantity: str = Field(description="In the meter's unit, to a millionth.")
    rate: str | None = Field(description="Null: no price list prices it.")
    amount: str | None = Field(description="Quantity times rate, rounded half to even.")
    discount: str
    credit: str = Field(description="Credit for missed guarantees of bandwidth.")
    total: str = Field(description="Amount without discount and credit.")
    unused: str | None = Field(description="Part of the amount for unused reservations; null without samples.")
    problem: str = Field(description="Why no price list prices it.")


class StatementView(Wire):
    """The statement of a month. A user sees their own lines, which add up to their total."""

    month: str
    zone: str
    from_s: float
    until_s: float = Field(description="End of the counted use: the end of the month, or now.")
    closed: bool = Field(description="Whether the statement is final.")
    currency: str | None = Field(description="Null without any price list.")
    total: str
    unused: str
    gaps: list[str] = Field(description="Meters without a price.")
    lines: list[StatementLineView]


class PriceView(Wire):
    """A price, before discounts and credits."""

    amount: str
    currency: str
    gaps: list[str] = Field(default=[], description="Meters without a price.")


class EstimateView(PriceView):
    """The price of an application if all its services run for `run_s`."""

    run_s: float
    basis: str = Field(
        description="Source of the run time: `forecast`, `expected` or `time_limit`; `hour`: it is unknown, and "
        "this is the price of an hour."
    )


class BudgetChange(Numbers):
    """A budget to set, for each month."""

    tenant: str = Field(max_length=128)
    user: str | None = Field(default=None, max_length=200, description="Null: the tenant as a whole.")
    amount: str = Field(pattern=_AMOUNT, description="Amount in the currency of the price lists.")
    refuses: bool = Field(default=False, description="Refuse submissions once it is spent; else only warn.")
    warn_percent: int = Field(default=80, ge=1, le=100, description="Warn once this percentage is spent.")


class BudgetView(BudgetChange):
    """A budget, and the amount spent in this month."""

    currency: str | None
    spent: str
    hourly: str = Field(description="Cost of the running services per hour.")


class BudgetList(Wire):
    """Budgets by tenant and user."""

    month: str
    budgets: list[BudgetView]
