"""Prices of submissions, and budgets that refuse them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.support.applications import application, component
from tests.support.plain_api import TENANT, USER, caller_of, operator, person, refusal, request, services
from zoe_api.executions.submissions import budgets
from zoe_api.http.metrics import BUDGET_REFUSED, BUDGET_WARNED
from zoe_api.http.problems.codes import Code
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.metering import HOUR_US, Meter
from zoe_lib.pricing.price_list import PriceList, Row
from zoe_lib.pricing.statement import Line
from zoe_lib.store.sql.billing.prices import Budget

ADA, ASKED = person(), request(state={"terms": None})
PRICES = PriceList("EUR", "UTC", 0, rates=(Row("0.50", meter=Meter.CORE_HOURS),))


def there(spent: str = "0", hourly: str = "0", *budgets_: Budget) -> Any:
    made = services()
    made.store.billing.add_prices(PRICES)
    made.store.billing.found = list(budgets_)
    made.store.billing.by_user = {USER: Decimal(spent), "bob": Decimal(5)}
    made.store.billing.hourly_by_user = {USER: Decimal(hourly)}
    return made


def budget(user: str | None = USER, refuses: bool = False, tenant: str = TENANT) -> Budget:
    return Budget(tenant, user, Decimal(100), refuses, 80)


@pytest.mark.parametrize(
    ("spent", "refuses", "warnings", "refused"),
    [
        ("79.99", True, 0, False),
        ("80", True, 1, False),
        ("99.99", True, 1, False),
        ("100", False, 1, False),
        ("100", True, 0, True),
        ("200", True, 0, True),
    ],
)
def test_a_budget_warns_from_its_part_on_and_refuses_when_it_is_spent(
    spent: str, refuses: bool, warnings: int, refused: bool
) -> None:
    made = there(spent, "1", budget(refuses=refuses))
    before = BUDGET_WARNED._value.get(), BUDGET_REFUSED._value.get()
    if refused:
        with refusal(Code.BUDGET_EXCEEDED) as found:
            budgets.check_budget(caller_of(made, ADA, ASKED))
        assert "has spent" in found.problem.detail
    else:
        assert len(budgets.check_budget(caller_of(made, ADA, ASKED))) == warnings
    assert (BUDGET_WARNED._value.get(), BUDGET_REFUSED._value.get()) == (before[0] + warnings, before[1] + refused)


def test_the_budget_of_the_tenant_counts_what_all_have_spent() -> None:
    assert len(budgets.check_budget(caller_of(there("75", "0", budget(None)), ADA, ASKED))) == 1
    assert budgets.check_budget(caller_of(there("74.99", "0", budget(None)), ADA, ASKED)) == ()
    assert budgets.check_budget(caller_of(there("99", "0", budget("bob"), budget(tenant="other")), ADA, ASKED)) == ()


def test_without_a_price_list_nothing_has_a_price() -> None:
    made = services()
    assert budgets.price_of(caller_of(made, ADA), application(), 60.0) is None
    assert budgets.prices_of(made, ["e"], 1.0) == {}
    (one,) = budgets.run_times_of(caller_of(made, ADA), application(), [CHOICE])
    assert one.price is None


@pytest.mark.parametrize(
    ("changes", "forecast_s", "amount", "run_s", "basis"),
    [
        ({}, None, "1.00", 3600.0, "hour"),
        ({}, 7200.0, "2.00", 7200.0, "forecast"),
        ({"time_limit_s": 1800.0}, None, "0.50", 1800.0, "time_limit"),
        ({"expected_run_s": 3600.0}, 7200.0, "1.00", 3600.0, "expected"),
    ],
)
def test_an_application_is_priced_for_the_run_time_that_is_known(
    changes: dict[str, Any], forecast_s: float | None, amount: str, run_s: float, basis: str
) -> None:
    one = application(component("main", 2), **changes)
    told = budgets.price_of(caller_of(there(), ADA), one, forecast_s)
    assert told is not None
    assert (told.amount, told.currency, told.run_s, told.basis) == (amount, "EUR", run_s, basis)
    assert told.gaps == ["not priced: memory_gib_hours: the price list has no rate for it"]


CHOICE = {"elastic": 1, "cores": 2.0, "p50_s": 3600.0, "p90_s": 4000.0, "samples": 3, "wide": False}


def test_each_number_of_elastic_services_has_its_price() -> None:
    one = application(component("main", 1, 3))
    more = {**CHOICE, "elastic": 2}
    told = budgets.run_times_of(caller_of(there(), ADA), one, [CHOICE, more])
    assert [(c.elastic, c.price.amount if c.price else None) for c in told] == [(1, "1.00"), (2, "1.50")]
    assert budgets.run_times_of(caller_of(there(), ADA), one, []) == []


def line(amount: str | None, unused: str | None, **more: Any) -> Line:
    given = (None if amount is None else Decimal(amount), None if unused is None else Decimal(unused))
    parts = (TENANT, USER, "sums", Meter.CORE_HOURS, "", 0, HOUR_US, 1)
    return Line(*parts, rate=Decimal(1), amount=given[0], unused=given[1], **more)


def test_price_so_far_is_the_sum_of_the_lines() -> None:
    made = there()
    made.store.billing.charges = {
        "a": [line("1.50", "0.25"), line("2.25", None, discount=Decimal("0.25"))],
        "b": [line("1.00", None)],
        "c": [line(None, None, problem="no price list holds")],
    }
    told = budgets.prices_of(made, ["a", "b", "c", "d"], 1.0)
    assert told.keys() == {"a", "b", "c"}
    price: Any = told["a"]["price"]
    assert (price.amount, price.currency, price.gaps, told["a"]["unused"]) == ("3.50", "EUR", [], "0.25")
    assert told["b"]["unused"] is None
    gaps: Any = told["c"]["price"]
    assert (gaps.amount, len(gaps.gaps)) == ("0", 1)
    assert budgets.prices_of(made, [], 1.0) == {}


def test_closed_submissions_are_refused_with_the_sentence_of_the_admin_but_for_operators() -> None:
    made = services()
    made.store.set_policy(Policy(submissions_closed="new disks until noon"), 0, 1.0, "test")
    with refusal(Code.SUBMISSIONS_CLOSED) as found:
        budgets.check_budget(caller_of(made, ADA, ASKED))
    assert found.problem.detail == "new disks until noon"
    assert budgets.budget_notes(caller_of(made, ADA, ASKED)) == (
        "a submission would be refused now: new disks until noon",
    )
    assert budgets.check_budget(caller_of(made, operator(), ASKED)) == ()
