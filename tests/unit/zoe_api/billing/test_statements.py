"""Statements and budgets: their owners, and the form of amounts."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pytest

from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    TENANT,
    USER,
    admin,
    caller_of,
    operator,
    person,
    refusal,
    request,
    services,
)
from zoe_api.billing import statements as billing
from zoe_api.http.problems.codes import Code
from zoe_client.documents.diagnostics import DescriptionError, Diagnostic
from zoe_client.wire import BudgetChange, PriceListRequest
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.domain.executions.metering import HOUR_US, ONE, Meter
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.statement import Line
from zoe_lib.pricing.zones import Month
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal
from zoe_lib.store.postgres.billing import Statement
from zoe_lib.store.sql.billing.prices import Budget

CORE = Meter.CORE_HOURS


def line(user: str = USER, amount: str | None = "2.00", **more: Any) -> Line:
    given = {"rate": Decimal("0.5"), "unused": Decimal("0.25"), **more}
    value = None if amount is None else Decimal(amount)
    return Line(TENANT, user, "sums", CORE, "", HOUR_US, 2 * HOUR_US, 3 * ONE[CORE] // 2, amount=value, **given)


LINES = (
    line(discount=Decimal("0.50"), credit=Decimal("0.25")),
    line(PEER, "1.00", unused=None),
    line(PEER, None, rate=None, unused=None, problem="no rate"),
)


class Statements:
    """Statements of a month, and the requested ones."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def statement(self, month: str, now_s: float, tenant: str | None) -> Statement:
        if month == "9999-01":
            raise ValueError("no such month")
        self.asked.append(tenant)
        return Statement(Month(month, 10**6, 3 * 10**6), "UTC", "EUR", 2 * 10**6, False, LINES, ("a gap",))

    def close(self, month: str, now_s: float, user: str) -> Statement:
        return self.statement(month, now_s, None)


def there() -> Any:
    made = services()
    made.store.billing = Statements()
    return made


def statement(principal: Principal, tenant: str | None = None, form: str | None = None, **headers: str) -> Any:
    made = there()
    return billing.get_statement("2026-11", caller_of(made, principal, request(headers=headers)), tenant, form), made


@pytest.mark.parametrize(
    ("principal", "tenant", "asked", "lines"),
    [
        (person(), None, TENANT, 1),
        (person(), TENANT, TENANT, 1),
        (person(PEER), None, TENANT, 2),
        (person("eve"), None, TENANT, 0),
        (operator(), None, TENANT, 3),
        (operator(), ELSEWHERE, ELSEWHERE, 3),
        (operator(), "*", None, 3),
    ],
)
def test_users_see_their_own_lines_and_operators_those_of_tenants(
    principal: Principal, tenant: str | None, asked: str | None, lines: int
) -> None:
    view, made = statement(principal, tenant)
    assert (made.store.billing.asked, len(view.lines)) == ([asked], lines)


@pytest.mark.parametrize("tenant", [ELSEWHERE, "*"])
def test_statements_of_other_tenants_are_for_operators(tenant: str) -> None:
    with refusal(Code.ROLE_MISSING):
        statement(person(), tenant)


def test_amounts_are_written_as_they_add_up() -> None:
    view, _ = statement(operator())
    assert (view.total, view.unused, view.currency, view.gaps) == ("2.25", "0.25", "EUR", ["a gap"])
    assert (view.month, view.from_s, view.until_s, view.closed) == ("2026-11", 1.0, 2.0, False)
    first, _, last = view.lines
    assert (first.quantity, first.rate, first.amount, first.discount) == ("1.500000", "0.5", "2.00", "0.50")
    assert (first.credit, first.total, first.unused, first.problem) == ("0.25", "1.25", "0.25", "")
    assert (first.from_s, first.to_s, first.meter) == (3600.0, 7200.0, "core_hours")
    assert (last.rate, last.amount, last.total, last.unused, last.problem) == (None, None, "0", None, "no rate")


@pytest.mark.parametrize(
    ("form", "accept", "as_csv"),
    [("csv", "", True), (None, "text/csv", True), (None, "application/json", False), ("json", "text/csv", False)],
)
def test_a_statement_is_a_table_if_it_is_asked_for(form: str | None, accept: str, as_csv: bool) -> None:
    answer, _ = statement(operator(), None, form, accept=accept)
    if not as_csv:
        assert answer.total == "2.25"
        return
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    assert [row["total"] for row in rows] == ["1.25", "1.00", "0"]
    assert (rows[0]["month"], rows[0]["currency"], rows[0]["user"]) == ("2026-11", "EUR", USER)
    assert answer.headers["content-disposition"] == 'attachment; filename="zoe-statement-2026-11.csv"'
    assert answer.headers["content-type"].startswith("text/csv")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        *(("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@a", "'@a"), ("\ta", "'\ta"), ("\ra", "'\ra")),
        *(("a=1", "a=1"), ("", ""), (-1, -1), (None, None)),
    ],
)
def test_a_spreadsheet_does_not_take_a_cell_for_a_formula(value: object, cell: object) -> None:
    assert billing._plain(value) == cell


def test_a_month_that_does_not_exist_is_refused() -> None:
    with refusal(Code.INVALID_REQUEST):
        billing.get_statement("9999-01", caller_of(there(), person(), request()))
    with refusal(Code.INVALID_REQUEST):
        billing.close_statement("9999-01", caller_of(there(), admin()))
    assert billing.close_statement("2026-11", caller_of(there(), admin())).total == "2.25"


# -- budgets -----------------------------------------------------------------------------------------------------------
def with_budgets(prices: bool = True) -> Any:
    made = services()
    made.accounts.add_member(USER)
    if prices:
        made.store.billing.add_prices(PriceList("EUR", "UTC", 0))
    made.store.billing.found = [
        Budget(TENANT, None, Decimal(100), True, 50),
        Budget(TENANT, USER, Decimal("10.50")),
        Budget(TENANT, PEER, Decimal(20)),
        Budget(ELSEWHERE, None, Decimal(5)),
    ]
    made.store.billing.by_user = {USER: Decimal(3), PEER: Decimal(4)}
    made.store.billing.hourly_by_user = {PEER: Decimal("0.5")}
    return made


@pytest.mark.parametrize(("principal", "users"), [(person(), [None, USER]), (operator(), [None, USER, PEER])])
def test_users_see_their_budget_and_their_tenants(principal: Principal, users: list[str | None]) -> None:
    told = billing.get_budgets(principal, with_budgets().store)
    assert [budget.user for budget in told.budgets] == users
    whole, own, *_ = told.budgets
    assert (whole.amount, whole.spent, whole.hourly, whole.refuses, whole.warn_percent) == ("100", "7", "0.5", True, 50)
    assert (own.amount, own.spent, own.hourly, own.currency) == ("10.50", "3", "0", "EUR")
    assert len(told.month) == len("2026-11")


def test_admins_see_all_budgets() -> None:
    told = billing.list_budgets(admin(), with_budgets().store)
    assert [(budget.tenant, budget.user) for budget in told.budgets][-1] == (ELSEWHERE, None)
    assert len(told.budgets) == 4


def test_without_prices_nothing_is_spent() -> None:
    told = billing.get_budgets(person(), with_budgets(prices=False).store)
    assert (told.month, told.budgets[0].spent, told.budgets[0].currency) == ("", "0", None)


def test_a_budget_is_set_for_a_tenant_and_a_user_that_exist() -> None:
    made, asked = with_budgets(), request()
    made.spending._budgets = (1e18, ())
    body = BudgetChange(tenant=TENANT, user=USER, amount="12.50", refuses=True, warn_percent=90)
    assert billing.set_budget(body, caller_of(made, admin(), asked)) is body
    assert made.store.billing.found[-1] == Budget(TENANT, USER, Decimal("12.50"), True, 90)
    assert asked.state.audit_changes == {f"{TENANT}/{USER}": ["10.50", "12.50"], "refuses": [None, True]}
    assert made.spending._budgets[0] < 0
    for tenant, user in ((ELSEWHERE, None), (TENANT, "nobody")):
        with pytest.raises(NotFound):
            billing.set_budget(BudgetChange(tenant=tenant, user=user, amount="1"), caller_of(made, admin(), request()))


# -- price lists -------------------------------------------------------------------------------------------------------
def test_only_the_list_that_began_last_holds() -> None:
    made = services()
    for from_us, replaced in ((0, None), (5 * 10**6, None), (4 * 10**6, 3.0), (10**18, None)):
        made.store.billing.add_prices(PriceList("EUR", "UTC", from_us), replaced)
    told = billing.list_price_lists(SYSTEM_CLOCK, admin(), made.store)
    assert [(price_list.id, price_list.holds, price_list.from_s) for price_list in told.price_lists] == [
        (1, False, 0),
        (2, True, 5.0),
        (4, False, 1e12),
    ]
    whole = billing.list_price_lists(SYSTEM_CLOCK, admin(), made.store, history=True).price_lists
    assert [(entry.id, entry.holds, entry.replaced_at_s) for entry in whole][2] == (3, False, 3.0)


def test_a_bad_list_is_refused_with_all_its_errors() -> None:
    faults = [Diagnostic("/a", "c", "first"), Diagnostic("/b", "c", "second")]

    class Bad:
        def set_price_list(self, *_: Any) -> None:
            raise DescriptionError(faults)

        check_price_list = set_price_list

    made = services()
    made.store.billing = Bad()
    body = PriceListRequest(document={})
    for work in (
        lambda: billing.set_price_list(body, caller_of(made, admin(), request())),
        lambda: billing.check_price_list(SYSTEM_CLOCK, body, admin(), made.store),
    ):
        with refusal(Code.INVALID_PRICE_LIST) as found:
            work()
        assert [error.pointer for error in found.problem.errors] == ["/a", "/b"]
        assert "first" in found.problem.detail
