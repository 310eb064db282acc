"""Price lists and budgets, and statements of closed months."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as insert_or

from zoe_lib.domain.executions.metering import microseconds
from zoe_lib.domain.values.frozen import value
from zoe_lib.pricing.price_list import PriceList, check_names, read_price_list
from zoe_lib.pricing.zones import month_of, text_of
from zoe_lib.store.documents.text import storable
from zoe_lib.store.errors import NotFound, PriceListRefused, StatementRefused
from zoe_lib.store.tables.billing import budgets, price_lists, statements

NO_TENANT = ""
"""The row of `statements` that marks a month as closed."""
_NO_USER = ""
LOCK = text("LOCK TABLE price_lists IN SHARE ROW EXCLUSIVE MODE")
"""Taken by all transactions that change the list in force, or close a month."""


@value(frozen=True, slots=True)
class StoredPriceList:
    """A price list as it was set. `replaced_at_s`: time at which it was replaced or removed, before it began."""

    id: int
    document: Mapping[str, Any]
    prices: PriceList
    set_at_s: float
    set_by: str
    replaced_at_s: float | None


@value(frozen=True, slots=True)
class Budget:
    """Maximum spending of a tenant, or of a user in it, in a month. Above `warn_percent` of it, a submission gets a
    note; above all of it, it is refused if `refuses`.
    """

    tenant: str
    user: str | None
    amount: Decimal
    refuses: bool = False
    warn_percent: int = 80


def read_price_lists(connection: Connection, history: bool = False) -> Sequence[StoredPriceList]:
    """Return the price lists by their beginning; with `history` also replaced and removed ones."""
    wanted = select(price_lists).order_by(price_lists.c.from_us, price_lists.c.id)
    if not history:
        wanted = wanted.where(price_lists.c.replaced_at_s.is_(None))
    return [
        StoredPriceList(
            row.id, row.document, _parse(json.dumps(row.document)), row.set_at_s, row.set_by, row.replaced_at_s
        )
        for row in connection.execute(wanted)
    ]


@lru_cache(200)
def _parse(document: str) -> PriceList:
    return read_price_list(json.loads(document))


def set_price_list(
    connection: Connection, document: Mapping[str, Any], now_s: float, by: str, past: bool = False
) -> StoredPriceList:
    """Store a price list. A list with the same beginning is replaced. Raises DescriptionError, and PriceListRefused if
    it begins in the past without `past`, or within a closed month, or has another currency or zone.
    """
    connection.execute(LOCK)
    prices = check_price_list(connection, document, now_s, past)
    connection.execute(
        update(price_lists)
        .where(price_lists.c.from_us == prices.from_us, price_lists.c.replaced_at_s.is_(None))
        .values(replaced_at_s=now_s)
    )
    row = {"from_us": prices.from_us, "document": dict(document), "set_at_s": now_s, "set_by": by}
    new_id = connection.execute(insert(price_lists).values(**row).returning(price_lists.c.id)).scalar_one()
    return StoredPriceList(new_id, dict(document), prices, now_s, by, None)


def check_price_list(
    connection: Connection, document: Mapping[str, Any], now_s: float, past: bool = False
) -> PriceList:
    """Return the price list that `set_price_list` would store, or raise its exceptions."""
    prices = read_price_list(dict(document))
    check_names(prices)
    _check_time(connection, prices, now_s, past)
    others = read_price_lists(connection)
    for name in ("currency", "zone"):
        differs = next((other.prices for other in others if getattr(other.prices, name) != getattr(prices, name)), None)
        same = len(others) == 1 and others[0].prices.from_us == prices.from_us  # it is replaced
        if differs is not None and not same:
            raise PriceListRefused(
                f"the {name} is {getattr(prices, name)}, and {getattr(differs, name)} in the other price lists: "
                "statements of a month could not be added up"
            )
    return prices


def remove_price_list(connection: Connection, list_id: int, now_s: float, past: bool = False) -> None:
    """Remove a list that has not begun, or with `past`, one by which no month was closed; NotFound, PriceListRefused.
    Its document stays in the history.
    """
    connection.execute(LOCK)
    found = next((price_list for price_list in read_price_lists(connection) if price_list.id == list_id), None)
    if found is None:
        raise NotFound(f"price list {list_id} does not exist")
    if found.prices.from_us <= microseconds(now_s):
        closed = closed_until_us(connection)
        if closed is not None and found.prices.from_us < closed:
            raise PriceListRefused("closed months use it: set a new list that begins later")
        if not past:
            raise PriceListRefused(
                "it has begun, and users have seen its prices: set a new list that begins later; --past removes it"
            )
    connection.execute(update(price_lists).where(price_lists.c.id == list_id).values(replaced_at_s=now_s))


def _check_time(connection: Connection, prices: PriceList, now_s: float, past: bool) -> None:
    begins = text_of(prices.from_us, prices.zone)
    if (closed := closed_until_us(connection)) is not None and prices.from_us < closed:
        raise PriceListRefused(f"it begins on {begins}, and statements are closed until {text_of(closed, prices.zone)}")
    if prices.from_us < microseconds(now_s) and not past:
        raise PriceListRefused(
            f"it begins in the past, on {begins}: it would change prices that users have seen; --past allows it"
        )


def closed_until_us(connection: Connection) -> int | None:
    """Return the end of the last closed month; None without one."""
    newest = connection.execute(
        select(statements.c.month, statements.c.document)
        .where(statements.c.tenant == NO_TENANT)
        .order_by(statements.c.month.desc())
        .limit(1)
    ).one_or_none()
    return None if newest is None else month_of(newest.month, newest.document["zone"]).to_us


def read_closed(connection: Connection, month: str, tenant: str | None = None) -> Sequence[Mapping[str, Any]] | None:
    """Return the documents of a closed month, of one tenant or of all; None if it is not closed."""
    if not storable(month, tenant):
        return None
    rows = connection.execute(select(statements).where(statements.c.month == month)).all()
    if not any(row.tenant == NO_TENANT for row in rows):
        return None
    return [row.document for row in rows if row.tenant != NO_TENANT and tenant in (None, row.tenant)]


def write_closed(
    connection: Connection, month: str, documents: Mapping[str, Mapping[str, Any]], now_s: float, by: str
) -> bool:
    """Store the statements of a month by tenant, with `NO_TENANT` for the month itself; return False if it is closed
    already.
    """
    first = {"month": month, "closed_at_s": now_s, "closed_by": by}
    new = insert_or(statements).values(**first, tenant=NO_TENANT, document=documents[NO_TENANT])
    if connection.execute(new.on_conflict_do_nothing().returning(statements.c.month)).one_or_none() is None:
        return False
    rows = [{**first, "tenant": name, "document": mapping} for name, mapping in documents.items() if name != NO_TENANT]
    if rows:
        connection.execute(insert(statements), rows)
    return True


def mark_issued(connection: Connection, month: str, now_s: float) -> None:
    """Note that a statement of a closed month has left the hands of admins: it stays closed from then on."""
    row = update(statements).where(statements.c.month == month, statements.c.tenant == NO_TENANT)
    connection.execute(row.where(statements.c.issued_at_s.is_(None)).values(issued_at_s=now_s))


def is_issued(connection: Connection, month: str) -> bool:
    """Return whether a statement of a closed month was issued."""
    wanted = select(statements.c.issued_at_s).where(statements.c.month == month, statements.c.tenant == NO_TENANT)
    return connection.execute(wanted).scalar_one_or_none() is not None


def reopen(connection: Connection, month: str) -> None:
    """Open the last closed month again, as long as no statement of it was issued; StatementRefused."""
    connection.execute(LOCK)
    wanted = select(statements.c.month).where(statements.c.tenant == NO_TENANT, statements.c.month >= month)
    later = sorted(connection.execute(wanted).scalars())
    if month not in later:
        raise StatementRefused(f"{month} is not closed")
    if later != [month]:
        raise StatementRefused(f"{month} cannot be opened again before the later months, such as {later[-1]}")
    if is_issued(connection, month):
        raise StatementRefused(
            f"{month} cannot be opened again: its statements were issued; correct them by the budget or the prices of "
            "a later month"
        )
    connection.execute(delete(statements).where(statements.c.month == month))


def read_budgets(connection: Connection) -> Sequence[Budget]:
    """Return all budgets by tenant and user, a tenant's own first."""
    return [
        Budget(row.tenant, row.user_name or None, row.amount, row.refuses, row.warn_percent)
        for row in connection.execute(select(budgets).order_by(budgets.c.tenant, budgets.c.user_name))
    ]


def set_budget(connection: Connection, budget: Budget) -> None:
    """Set the budget of a tenant or a user."""
    values = {"amount": budget.amount, "refuses": budget.refuses, "warn_percent": budget.warn_percent}
    row = insert_or(budgets).values(tenant=budget.tenant, user_name=budget.user or _NO_USER, **values)
    connection.execute(row.on_conflict_do_update(constraint=budgets.primary_key, set_=values))


def clear_budget(connection: Connection, tenant: str, user: str | None) -> None:
    """Clear a budget; NotFound."""
    same = (budgets.c.tenant == tenant, budgets.c.user_name == (user or _NO_USER))
    if not storable(tenant, user) or connection.execute(delete(budgets).where(*same)).rowcount == 0:
        raise NotFound(f"no budget is set for {tenant if user is None else f'{user} in {tenant}'}")
