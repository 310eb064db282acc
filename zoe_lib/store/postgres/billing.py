"""Prices, statements and budgets, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection

from zoe_lib.domain.executions.metering import HOUR_US, Meter, MeteredUse, microseconds
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.statement import Line, gaps, lines
from zoe_lib.pricing.zones import Month, month_of
from zoe_lib.store.errors import StatementRefused
from zoe_lib.store.sql.billing import metering, prices
from zoe_lib.store.sql.connection.database import Database, read_method, write_method

# An end may be reported late: a node that was away reports its services' ends afterwards.
CLOSES_AFTER_S = 24 * 3600.0
_AMOUNTS = ("rate", "amount", "discount", "credit", "unused")


@value(frozen=True, slots=True)
class Statement:
    """The lines of a month. `until_us`: the end of the counted use, which is the month's end once it has passed.

    `issued`: somebody but an admin has got one of a closed month. `gaps`: sentences on meters without a price.
    `currency`: None without any price list.
    """

    month: Month
    zone: str
    currency: str | None
    until_us: int
    closed: bool
    lines: tuple[Line, ...]
    gaps: tuple[str, ...]
    issued: bool = False

    def for_user(self, user: str | None) -> Statement:
        """Return the part of one user; all of it for None."""
        if user is None:
            return self
        kept = tuple(line for line in self.lines if line.user == user)
        return changed(self, lines=kept, gaps=gaps(kept, self.zone))


class BillingStore:
    """Price lists, statements and budgets. Thread-safe; each method is one transaction, and may raise StoreUnavailable.

    A method is documented at the function that it runs.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    price_lists = read_method(prices.read_price_lists)
    set_price_list = write_method(prices.set_price_list)
    check_price_list = read_method(prices.check_price_list)
    remove_price_list = write_method(prices.remove_price_list)
    budgets = read_method(prices.read_budgets)
    set_budget = write_method(prices.set_budget)
    clear_budget = write_method(prices.clear_budget)
    metered = read_method(metering.read_metered)
    mark_issued = write_method(prices.mark_issued)
    reopen = write_method(prices.reopen)

    def statement(self, month: str, now_s: float, tenant: str | None = None) -> Statement:
        """Return the statement of a month, of one tenant or of all: as it was closed, or up to now; ValueError for an
        invalid month.
        """
        return self.database.read(lambda c: _statement(c, month, now_s, tenant))

    def close(self, month: str, now_s: float, by: str) -> Statement:
        """Close a month that ended at least a day ago: its statements stay as they are. Repeating it is safe.

        ValueError for an invalid month; StatementRefused if it is too early, or an earlier month with use is open.
        """

        def work(connection: Connection) -> Statement:
            connection.execute(prices.LOCK)
            found = _statement(connection, month, now_s, None)
            if not found.closed:
                _check_over(connection, found, now_s)
                prices.write_closed(connection, month, _documents(found), now_s, by)
            return _statement(connection, month, now_s, None)

        return self.database.write(work)

    def charges_of(self, ids: Collection[str], now_s: float) -> Mapping[str, tuple[Line, ...]]:
        """Return the lines of executions so far, by execution, before discounts and credits of their tenants."""

        def work(connection: Connection) -> Mapping[str, tuple[Line, ...]]:
            lists = [price_list.prices for price_list in prices.read_price_lists(connection)]
            found: dict[str, tuple[Line, ...]] = {}
            for line in lines(_priced_only(lists), *_all_time(now_s), _Reader(connection, ids=ids)):
                found[line.execution_id] = (*found.get(line.execution_id, ()), line)
            return found

        return self.database.read(work)

    def spending_by_user(self, tenant: str, month: str, now_s: float) -> Mapping[str, Decimal]:
        """Return the amounts that each user of a tenant has spent in a month so far."""
        found: dict[str, Decimal] = {}
        for line in self.statement(month, now_s, tenant).lines:
            found[line.user] = found.get(line.user, Decimal(0)) + line.total
        return found

    def hourly(self, tenant: str, now_s: float) -> Mapping[str, Decimal]:
        """Return the hourly cost of the running services of each user of a tenant, without discounts."""

        def work(connection: Connection) -> Mapping[str, Decimal]:
            lists = _priced_only(price_list.prices for price_list in prices.read_price_lists(connection))
            found: dict[str, Decimal] = {}
            now_us = microseconds(now_s)
            for line in lines(lists, now_us, now_us + HOUR_US, _Reader(connection, tenant)):
                found[line.user] = found.get(line.user, Decimal(0)) + line.total
            return found

        return self.database.read(work)


@value(frozen=True, slots=True)
class _Reader:
    """Reads the use in a period, of one tenant or of given executions."""

    connection: Connection
    tenant: str | None = None
    ids: Collection[str] | None = None
    until_us: int | None = None

    def __call__(self, from_us: int, to_us: int) -> Sequence[MeteredUse]:
        end = to_us if self.until_us is None else min(to_us, self.until_us)
        read = metering.read_metered
        return read(self.connection, from_us, end, self.tenant, self.ids, True) if end > from_us else ()


def _all_time(now_s: float) -> tuple[int, int]:
    return 0, microseconds(now_s)


def _priced_only(lists: Iterable[PriceList]) -> list[PriceList]:
    """Return the lists without discounts and credits, which depend on whole tenants."""
    return [changed(entry, discounts=(), credits=()) for entry in lists]


def _statement(connection: Connection, name: str, now_s: float, tenant: str | None) -> Statement:
    lists = [price_list.prices for price_list in prices.read_price_lists(connection)]
    zone, currency = (lists[0].zone, lists[0].currency) if lists else ("UTC", None)
    closed = prices.read_closed(connection, name, tenant)
    month = month_of(name, zone)
    until_us = min(max(microseconds(now_s), month.from_us), month.to_us)
    if closed is not None:
        kept = tuple(_line(entry) for document in closed for entry in document["lines"])
        issued = prices.is_issued(connection, name)
        return Statement(month, zone, currency, month.to_us, True, kept, gaps(kept, zone), issued)
    reader = _Reader(connection, tenant, None, until_us)
    found = lines(lists, month.from_us, until_us, reader, lambda *of: metering.missed_share(connection, *of))
    return Statement(month, zone, currency, until_us, False, found, gaps(found, zone))


def _check_over(connection: Connection, found: Statement, now_s: float) -> None:
    name = found.month.name
    if microseconds(now_s - CLOSES_AFTER_S) < found.month.to_us:
        raise StatementRefused(f"{name} can be closed a day after its end: services that ended may be reported late")
    if found.currency is None:
        raise StatementRefused(f"{name} cannot be closed: there is no price list; an admin adds one")
    start = prices.closed_until_us(connection) or 0
    if start < found.month.from_us and metering.read_metered(connection, start, found.month.from_us):
        raise StatementRefused(f"{name} cannot be closed before the earlier months, in which there was use")


def _documents(found: Statement) -> dict[str, dict[str, Any]]:
    head = {"zone": found.zone, "currency": found.currency}
    result: dict[str, dict[str, Any]] = {prices.NO_TENANT: {**head, "lines": []}}
    for line in found.lines:
        result.setdefault(line.tenant, {**head, "lines": []})["lines"].append(_to_document(line))
    return result


def _to_document(line: Line) -> dict[str, Any]:
    values = {field.name: getattr(line, field.name) for field in fields(line)}
    return {name: str(entry) if isinstance(entry, Decimal) else entry for name, entry in values.items()}


def _line(kept: Mapping[str, Any]) -> Line:
    amounts = {name: None if kept[name] is None else Decimal(kept[name]) for name in _AMOUNTS}
    return Line(**{**kept, "meter": Meter(kept["meter"]), **amounts})
