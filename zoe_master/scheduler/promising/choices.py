"""The choices of guarantees: in what time each ends, and what it costs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.values.frozen import value
from zoe_lib.pricing.told import told_price

_RATE_STEP = 1_000_000
_ABOUT = Decimal("1.25")
_PARTS = (64, 32, 16, 8, 4, 2, 1)
# From a decision to the first program: a tick, and elastic services of others that have to stop.
_START_S, _START_SHARE = 5.0, 0.02


@value(frozen=True, slots=True)
class ChoiceRunTime:
    """In what time a run ends with a chance; runs: ended runs behind it, 0 if it is declared; wide: they say little."""

    seconds: float
    runs: int
    wide: bool


@value(frozen=True, slots=True)
class PromiseChoice:
    """Guarantees that are possible: a number of elastic services, and bytes per second to read; None: none.

    views: whether inputs with a pushdown are read through views; None: that is decided when it starts.
    """

    elastic: int
    read_bytes_per_s: int | None = None
    views: bool | None = None


@value(frozen=True, slots=True)
class PromisePrice:
    """A price that is not rounded, and its currency."""

    amount: Decimal
    currency: str


# In what time a choice ends with a chance; None: nothing is known.
RunTimeOf = Callable[[PromiseChoice, float], ChoiceRunTime | None]
# What a choice costs if it runs for so many seconds; None: nothing has a price.
PriceOf = Callable[[PromiseChoice, float], PromisePrice | None]


@value(frozen=True, slots=True)
class PromiseCost:
    """A choice, in what time it ends with the chance that is asked for, and what it costs."""

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
    """Return rates to choose from, in bytes per second, the lowest first: parts of the most that promises may hold, and
    others, such as what is free now.
    """
    rates = {rate // _RATE_STEP * _RATE_STEP for rate in (*(most // part for part in _PARTS), *others)}
    return sorted(rate for rate in rates if rate > 0)


def whole_s(run_s: float) -> float:
    """Return the seconds from a decision until the end of a run."""
    return run_s * (1 + _START_SHARE) + _START_S


def least_rate_first(costed: Iterable[PromiseCost]) -> list[PromiseCost]:
    """Return the choices by price, but those with equal services and views together: of about the least price, the
    lowest rate first.

    A higher rate may be a little cheaper, since the services are held for a shorter time. But what is not guaranteed is
    lent: a run with a low rate ends sooner than promised, while one that holds the whole store leaves others nothing.
    """
    groups: dict[tuple[int, bool | None], list[PromiseCost]] = {}
    for one in costed:
        groups.setdefault((one.choice.elastic, one.choice.views), []).append(one)
    found: list[PromiseCost] = []
    for group in groups.values():
        most = _price_of(group[0]) * _ABOUT
        found += sorted(
            (one for one in group if _price_of(one) <= most), key=lambda one: one.choice.read_bytes_per_s or 0
        )
        found += [one for one in group if _price_of(one) > most]
    return found


def start_s(run_s: float) -> float:
    """Return how many of these seconds it may take to begin."""
    return whole_s(run_s) - run_s


def _price_of(one: PromiseCost) -> Decimal:
    return Decimal(0) if one.price is None else one.price.amount


def by_price(one: PromiseCost) -> tuple[Decimal, float, int]:
    """Return a key that puts the cheapest first, and the quickest of equal ones."""
    return told_price(_price_of(one)), one.run.seconds, one.choice.elastic
