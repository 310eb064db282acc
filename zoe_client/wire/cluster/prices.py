"""Price lists, statements and budgets. Amounts of money are texts with all their digits, such as 3.20."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from zoe_client.wire.base import Numbers, Wire

_AMOUNT = r"^\d{1,12}(\.\d{1,6})?$"


class PriceListView(Wire):
    """A price list as it was set."""

    id: int
    from_s: float = Field(description="From when it holds.")
    holds: bool = Field(description="Whether it holds now.")
    set_at_s: float
    set_by: str
    replaced_at_s: float | None = Field(description="When it was replaced or removed, before it began.")
    document: dict[str, Any]


class PriceListList(Wire):
    """Price lists by the time from which they hold."""

    price_lists: list[PriceListView]


class PriceListRequest(Wire):
    """A price list to set or to check."""

    document: dict[str, Any]
    past: bool = Field(default=False, description="Allow that it begins in the past, in a month that is not closed.")


class StatementLineView(Wire):
    """A line of a statement: what a user's executions of one application held of one meter under one price list."""

    tenant: str
    user: str
    application: str
    meter: str
    device: str = Field(description="The kind of device, for device hours.")
    from_s: float
    to_s: float
    quantity: str = Field(description="In the meter's unit, to a millionth.")
    rate: str | None = Field(description="Null: nothing prices it.")
    amount: str | None = Field(description="Quantity times rate, rounded half to even.")
    discount: str
    credit: str = Field(description="For guaranteed bandwidth that was missed.")
    total: str = Field(description="Amount without discount and credit.")
    unused: str | None = Field(
        description="The part of the amount for what was reserved and not used; null without samples."
    )
    problem: str = Field(description="Why nothing prices it.")


class StatementView(Wire):
    """The statement of a month. A user sees their own lines, which add up to their total."""

    month: str
    zone: str
    from_s: float
    until_s: float = Field(description="Up to when use counts: the end of the month, or now.")
    closed: bool = Field(description="Whether it never changes again.")
    currency: str | None = Field(description="Null without any price list.")
    total: str
    unused: str
    gaps: list[str] = Field(description="What nothing prices.")
    lines: list[StatementLineView]


class PriceView(Wire):
    """What something costs, before discounts and credits."""

    amount: str
    currency: str
    gaps: list[str] = Field(default=[], description="What nothing prices.")


class EstimateView(PriceView):
    """What an application would cost if all its services run for `run_s`."""

    run_s: float
    basis: str = Field(
        description="Where the run time is from: `forecast`, `expected` or `time_limit`; `hour`: it is not known, and "
        "this is the price of an hour."
    )


class BudgetChange(Numbers):
    """A budget to set, for each month."""

    tenant: str = Field(max_length=128)
    user: str | None = Field(default=None, max_length=200, description="Null: the tenant as a whole.")
    amount: str = Field(pattern=_AMOUNT, description="In the currency of the price lists.")
    refuses: bool = Field(default=False, description="Refuse submissions once it is spent; else only warn.")
    warn_percent: int = Field(default=80, ge=1, le=100, description="From which part of it on to warn.")


class BudgetView(BudgetChange):
    """A budget, and what of it is spent in this month."""

    currency: str | None
    spent: str
    hourly: str = Field(description="What the services that run now cost in an hour.")


class BudgetList(Wire):
    """Budgets by tenant and user."""

    month: str
    budgets: list[BudgetView]
