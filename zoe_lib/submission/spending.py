"""Cache of this month's spending by tenant, refreshed after some seconds: a submission must not wait for a
statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Lock

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.metering import microseconds
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.statement import in_force
from zoe_lib.pricing.zones import month_at
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.billing.prices import Budget

KEPT_S = 5.0
_KEPT_MAX = 1000


@dataclass(frozen=True, slots=True)
class Spent:
    """Spending of a tenant's users in a month so far, and the hourly cost of their running services."""

    month: str
    currency: str
    by_user: Mapping[str, Decimal]
    hourly_by_user: Mapping[str, Decimal]

    def amounts_for(self, user: str | None) -> tuple[Decimal, Decimal]:
        """Return the spending of a user, or of the whole tenant, and its hourly cost."""
        return _part(self.by_user, user), _part(self.hourly_by_user, user)


def read_spent(store: PostgresStore, tenant: str, now_s: float) -> Spent | None:
    """Return the spending; None without any price list."""
    lists = store.billing.price_lists()
    if not lists:
        return None
    month = month_at(now_s, lists[0].prices.zone).name
    by_user, hourly = store.billing.spending_by_user(tenant, month, now_s), store.billing.hourly(tenant, now_s)
    return Spent(month, lists[0].prices.currency, by_user, hourly)


@dataclass(slots=True)
class Spending:
    """Cache of spending, budgets and prices. Thread-safe."""

    clock: Clock = SYSTEM_CLOCK
    _lock: Lock = field(default_factory=Lock)
    _budgets: tuple[float, Sequence[Budget]] = (-1e9, ())
    _lists: tuple[float, Sequence[PriceList]] = (-1e9, ())
    _spent: dict[str, tuple[float, Spent | None]] = field(default_factory=dict)

    def budgets(self, store: PostgresStore, tenant: str, user: str) -> Sequence[Budget]:
        """Return the budgets that apply to a submission of this user."""
        now = self.clock.monotonic_s()
        at, found = self._budgets
        if now - at > KEPT_S:
            found = store.billing.budgets()
            self._budgets = now, found
        return [budget for budget in found if budget.tenant == tenant and budget.user in (None, user)]

    def prices(self, store: PostgresStore) -> PriceList | None:
        """Return the price list in force; None without one."""
        now = self.clock.monotonic_s()
        at, found = self._lists
        if now - at > KEPT_S:
            found = [price_list.prices for price_list in store.billing.price_lists()]
            self._lists = now, found
        return in_force(found, microseconds(self.clock.now_s()))

    def spending_of(self, store: PostgresStore, tenant: str) -> Spent | None:
        """Return the spending of the tenant."""
        now = self.clock.monotonic_s()
        with self._lock:
            at, found = self._spent.get(tenant, (-1e9, None))
            if now - at > KEPT_S:
                found = read_spent(store, tenant, self.clock.now_s())
                if len(self._spent) >= _KEPT_MAX:
                    self._spent.clear()
                self._spent[tenant] = now, found
        return found

    def forget(self) -> None:
        """Clear the cache after a change by this process."""
        self._budgets, self._lists = (-1e9, ()), (-1e9, ())
        with self._lock:
            self._spent.clear()


def _part(by_user: Mapping[str, Decimal], user: str | None) -> Decimal:
    return sum(by_user.values(), Decimal(0)) if user is None else by_user.get(user, Decimal(0))
