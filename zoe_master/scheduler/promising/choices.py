"""The possible guarantees: their run times and prices. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.values.frozen import value
from zoe_lib.pricing.displayed_prices import displayed_price

_RATE_STEP = 1_000_000
_ABOUT = Decimal("1.25")
_PARTS = (64, 32, 16, 8, 4, 2, 1)
# From a decision to the first program: a tick, and the time to stop other elastic services.
_START_S, _START_SHARE = 5.0, 0.02


@value(frozen=True, slots=True)
class ChoiceRunTime:
    """Run time that holds with a chance; runs: number of ended runs behind it, 0 if declared; wide: they say little."""

    seconds: float
    runs: int
    wide: bool


@value(frozen=True, slots=True)
class PromiseChoice:
    """A possible set of guarantees: a number of elastic services, and bytes per second to read; None: none.

    views: whether inputs with a pushdown are read through views; None: decided when it starts.
    """

    elastic: int
    read_bytes_per_s: int | None = None
    views: bool | None = None


@value(frozen=True, slots=True)
class PromisePrice:
    """An unrounded price, and its currency."""

    amount: Decimal
    currency: str


# Returns the run time of a choice that holds with a chance; None if unknown.
RunTimeOf = Callable[[PromiseChoice, float], ChoiceRunTime | None]
# Returns the price of a choice that runs for so many seconds; None without prices.
PriceOf = Callable[[PromiseChoice, float], PromisePrice | None]


@value(frozen=True, slots=True)
class PromiseCost:
    """A choice, its run time with the requested chance, and its price."""

    choice: PromiseChoice
    run: ChoiceRunTime
    price: PromisePrice | None


def numbers_of(application: Application) -> list[int]:
    """Return the numbers of elastic services to choose from: none, 1, 2, 4 and so on, and all."""
    most = sum(component.elastic_count for component in application.components)
    found, number = [0], 1
    while number < most:
        found.append(number)
        number *= 2
    return [*found, most] if most else found


def rates_of(most: int, *others: int) -> list[int]:
    """Return the rates to choose from, in bytes per second, the lowest first: fractions of the maximum for promises,
    and others, such as the free rate.
    """
    rates = {rate // _RATE_STEP * _RATE_STEP for rate in (*(most // part for part in _PARTS), *others)}
    return sorted(rate for rate in rates if rate > 0)


def total_s(run_s: float) -> float:
    """Return the seconds from a decision until the end of a run."""
    return run_s * (1 + _START_SHARE) + _START_S


def least_rate_first(costed: Iterable[PromiseCost]) -> list[PromiseCost]:
    """Return the choices by price, but among those with equal services and views and about the same price, the lowest
    rate first.

    A higher rate may be a little cheaper, since the services are held for a shorter time. But unguaranteed bandwidth is
    lent: a run with a low rate ends sooner than promised, while one that holds the whole store leaves others nothing.
    """
    groups: dict[tuple[int, bool | None], list[PromiseCost]] = {}
    for cost in costed:
        groups.setdefault((cost.choice.elastic, cost.choice.views), []).append(cost)
    found: list[PromiseCost] = []
    for group in groups.values():
        most = _price_of(group[0]) * _ABOUT
        found += sorted(
            (cost for cost in group if _price_of(cost) <= most), key=lambda cost: cost.choice.read_bytes_per_s or 0
        )
        found += [cost for cost in group if _price_of(cost) > most]
    return found


def start_s(run_s: float) -> float:
    """Return the part of these seconds allowed for the begin."""
    return total_s(run_s) - run_s


def _price_of(one: PromiseCost) -> Decimal:
    return Decimal(0) if one.price is None else one.price.amount


def by_price(one: PromiseCost) -> tuple[Decimal, float, int]:
    """Return a sort key: the cheapest first, and the quickest of equal ones."""
    return displayed_price(_price_of(one)), one.run.seconds, one.choice.elastic
