"""Prices of applications by the price list in force at their run, or core-hours where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.metering import microseconds
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.pricing.estimate import estimate
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.statement import in_force
from zoe_master.scheduler.promising.choices import PromisePrice

_KEPT_S = 30.0
_HOUR_S = 3600
CORE_HOURS = "core-hours"
_BYTES_PER_S_OF_CORE = 10_000_000  # guaranteed bandwidth that counts as a core


class StoredPrices:
    """`lists` reads the price lists; they are read again after half a minute."""

    def __init__(self, lists: Callable[[], Sequence[PriceList]], clock: Clock = SYSTEM_CLOCK) -> None:
        self._lists = lists
        self._clock = clock
        self._known: tuple[float, Sequence[PriceList]] | None = None

    def price(self, application: Application, tenant: str, user: str, run_s: float, at_s: float) -> PromisePrice:
        """Return the price of an application if all its services run for that time, by the list in force at `at_s`."""
        prices = in_force(self._known_lists(), microseconds(at_s))
        if prices is None:
            milli = application.total_resources().cores_milli
            wanted = required_rates(application)
            cores = Decimal(milli) / 1000 + Decimal(0 if wanted is None else wanted.read) / _BYTES_PER_S_OF_CORE
            return PromisePrice(cores * Decimal(run_s) / _HOUR_S, CORE_HOURS)
        amount, _ = estimate(application, tenant, user, run_s, prices)
        return PromisePrice(amount, prices.currency)

    def _known_lists(self) -> Sequence[PriceList]:
        now_s = self._clock.now_s()
        if self._known is None or not 0 <= now_s - self._known[0] < _KEPT_S:
            self._known = now_s, self._lists()
        return self._known[1]
