"""Statements: the use of a month, priced line by line.

A line is rounded once, half to even, and everything else is a sum of lines: the part of a user, and the total. So parts
always add up to the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from itertools import groupby, pairwise
from typing import Protocol

from zoe_lib.domain.executions.metering import ONE, Meter, MeteredUse
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.pricing.expressions import ExpressionError
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.zones import text_of

_EXACT = Context(prec=80, rounding=ROUND_HALF_EVEN)
_QUANTITY = Decimal("0.000001")
NO_LIST = "no price list holds"


class MeterReader(Protocol):
    """Reads the use between two moments, in microseconds since the epoch, each subject once."""

    def __call__(self, from_us: int, to_us: int) -> Iterable[MeteredUse]:
        """Return the use."""
        ...


@value(frozen=True, slots=True)
class Line:
    """A line of a statement. `from_us` and `to_us`: the part of the month in which its price list applies.

    `rate` and `amount` are None if no price list prices it, and `problem` says why. `quantity` is in the meter's unit.
    `total` is the amount without discount and credit. `unused`: the part of the amount for unused reservations.
    """

    tenant: str
    user: str
    application: str
    meter: Meter
    device: str
    from_us: int
    to_us: int
    units: int
    rate: Decimal | None = None
    amount: Decimal | None = None
    discount: Decimal = Decimal(0)
    credit: Decimal = Decimal(0)
    unused: Decimal | None = None
    problem: str = ""
    execution_id: str = ""

    @property
    def quantity(self) -> Decimal:
        """Return the quantity, rounded for display to a millionth."""
        return _EXACT.quantize(_EXACT.divide(Decimal(self.units), Decimal(ONE[self.meter])), _QUANTITY)

    @property
    def total(self) -> Decimal:
        """Return the amount to pay."""
        return (self.amount or Decimal(0)) - self.discount - self.credit


@value(frozen=True, slots=True)
class Period:
    """A part of a month, and its price list, if there is one."""

    from_us: int
    to_us: int
    prices: PriceList | None


def periods(lists: Iterable[PriceList], from_us: int, to_us: int) -> Iterator[Period]:
    """Split a period where another price list, or none, begins to apply; the list that began last applies."""
    ordered = sorted(lists, key=lambda entry: entry.from_us)
    borders = {from_us, to_us}
    for entry in ordered:
        borders |= {at for at in (entry.from_us, entry.until_us) if at is not None and from_us < at < to_us}
    # The end of an earlier list, while a later one applies, is not a border.
    for prices, parts in groupby(pairwise(sorted(borders)), key=lambda part: in_force(ordered, part[0])):
        whole = list(parts)
        yield Period(whole[0][0], whole[-1][1], prices)


def in_force(lists: Iterable[PriceList], at_us: int) -> PriceList | None:
    """Return the list that applies at a moment, if any: the last that began, unless it has ended."""
    begun = [entry for entry in lists if entry.from_us <= at_us]
    newest = max(begun, key=lambda entry: entry.from_us, default=None)
    return newest if newest is None or newest.until_us is None or at_us < newest.until_us else None


def lines(
    lists: Sequence[PriceList],
    from_us: int,
    to_us: int,
    held: MeterReader,
    missed_share: Callable[[str, int, int], float | None] = lambda _tenant, _from, _to: None,
) -> tuple[Line, ...]:
    """Return the lines of all use between two moments, with discounts and credits.

    `held` must return all use of a tenant, since a discount depends on the tenant's total. `missed_share`: the missed
    share of a tenant's granted bandwidth, None if unknown.
    """
    found: list[Line] = []
    for period in periods(lists, from_us, to_us):
        priced = [_line(use, period) for use in held(period.from_us, period.to_us) if use.units > 0]
        found += _apply_reductions(priced, period, missed_share)
    return tuple(sorted(found, key=_order))


def charge(use: MeteredUse, prices: PriceList) -> tuple[Decimal, Decimal]:
    """Return the rate and the rounded amount of a use; ExpressionError."""
    rate = prices.rate_of(use)
    exact = _EXACT.divide(_EXACT.multiply(Decimal(use.units), rate), Decimal(ONE[use.meter]))
    return rate, round_amount(exact, prices)


def round_amount(amount: Decimal, prices: PriceList) -> Decimal:
    """Return an amount in the decimal places of the list, rounded half to even."""
    return _EXACT.quantize(amount, Decimal(1).scaleb(-prices.digits))


def _line(use: MeteredUse, period: Period) -> Line:
    parts = (use.tenant, use.user, use.application, use.meter, use.device, period.from_us, period.to_us, use.units)
    if period.prices is None:
        return Line(*parts, problem=NO_LIST, execution_id=use.execution_id)
    try:
        rate, amount = charge(use, period.prices)
    except ExpressionError as error:
        return Line(*parts, problem=str(error), execution_id=use.execution_id)
    unused = None if use.unused is None else round_amount(amount * Decimal(str(round(use.unused, 6))), period.prices)
    return Line(*parts, rate=rate, amount=amount, unused=unused, execution_id=use.execution_id)


def _apply_reductions(
    priced: list[Line], period: Period, missed_share: Callable[[str, int, int], float | None]
) -> Iterator[Line]:
    prices = period.prices
    if prices is None or not (prices.discounts or prices.credits):
        yield from priced
        return
    of_tenant: dict[str, list[Line]] = defaultdict(list)
    for line in priced:
        of_tenant[line.tenant].append(line)
    for tenant, all_lines in of_tenant.items():
        missed = missed_share(tenant, period.from_us, period.to_us) if prices.credits else None
        try:
            percent = prices.discount(tenant, sum((line.amount or Decimal(0) for line in all_lines), Decimal(0)))
            credit = prices.credit(tenant, missed) if missed is not None else Decimal(0)
        except ExpressionError as error:  # the line reports the error, and is charged without a reduction
            yield from (changed(line, problem=line.problem or f"no discount or credit: {error}") for line in all_lines)
            continue
        for line in all_lines:
            amount = line.amount or Decimal(0)
            discount = round_amount(amount * percent / 100, prices)
            rest = amount - discount if line.meter is Meter.BANDWIDTH_MB_S_HOURS else Decimal(0)
            yield changed(line, discount=discount, credit=round_amount(rest * credit / 100, prices))


def _order(line: Line) -> tuple[object, ...]:
    return (line.tenant, line.user, line.application, line.meter.value, line.device, line.from_us, line.execution_id)


def gaps(found: Iterable[Line], zone: str) -> tuple[str, ...]:
    """Return the meters without a price, each once, as sentences."""
    seen: dict[str, None] = {}
    for line in found:
        if line.amount is None:
            what = line.meter.value + (f" of {line.device}" if line.device else "")
            span = f"from {text_of(line.from_us, zone)} to {text_of(line.to_us, zone)}"
            where = NO_LIST if line.problem == NO_LIST else f"{what} of {line.tenant}: {line.problem}"
            seen[f"not priced: {where} {span}"] = None
        elif line.problem:
            seen[f"{line.tenant}: {line.problem}"] = None
    return tuple(seen)
