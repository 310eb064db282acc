"""Rates, discounts, credits, gaps, months in zones, and the form of price lists, over use that is made up."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.applications import GIB, application, component
from zoe_client.documents.diagnostics import DescriptionError
from zoe_lib.domain.executions.metering import HOUR_US, ONE, Meter, MeteredUse
from zoe_lib.domain.values.resources import Resources
from zoe_lib.pricing.estimate import estimate
from zoe_lib.pricing.expressions import ExpressionError, amount_of, is_true
from zoe_lib.pricing.price_list import NAMES, read_price_list
from zoe_lib.pricing.statement import Line, gaps, lines, periods
from zoe_lib.pricing.zones import month_at, month_of

LIST: dict[str, Any] = {
    "currency": "EUR",
    "from": "2026-11-01",
    "rates": [
        {"meter": "core_hours", "when": 'application == "free"', "rate": "0"},
        {"meter": "core_hours", "rate": "0.105"},
        {"meter": "bandwidth_mb_s_hours", "rate": "0.01"},
    ],
}
START = month_of("2026-11", "UTC").from_us
END = month_of("2026-11", "UTC").to_us


def priced(*used: MeteredUse, missed: float | None = None, **changes: Any) -> tuple[Line, ...]:
    return lines([read_price_list({**LIST, **changes})], START, END, lambda *_: used, lambda *_: missed)


def held(meter: Meter, hours: int, **changes: Any) -> MeteredUse:
    values = {"tenant": "red", "user": "ada", "application": "mean", **changes}
    return MeteredUse(meter=meter, units=hours * ONE[meter], **values)


def test_a_line_is_rounded_once_half_to_even() -> None:
    one, three = priced(held(Meter.CORE_HOURS, 1), held(Meter.CORE_HOURS, 3, user="bob"))
    assert (one.amount, three.amount) == (Decimal("0.10"), Decimal("0.32"))  # 0.105 and 0.315


def test_the_first_row_that_applies_gives_the_rate() -> None:
    (free,) = priced(held(Meter.CORE_HOURS, 5, application="free"))
    assert (free.amount, free.problem) == (Decimal("0.00"), "")
    assert gaps([free], "UTC") == ()


def test_discounts_of_a_tenant_add_up_and_users_have_their_part() -> None:
    discounts = [
        {"name": "all", "percent": "10"},
        {"name": "much", "when": "subtotal > 20.0", "percent": 'tenant == "red" ? "5" : "0"'},
        {"name": "more", "when": "subtotal > 2000.0", "percent": "50"},
    ]
    found = priced(
        held(Meter.CORE_HOURS, 100), held(Meter.CORE_HOURS, 100, user="bob"),
        held(Meter.CORE_HOURS, 100, tenant="blue"), discounts=discounts,
    )  # fmt: skip
    assert {(line.tenant, line.user): line.total for line in found} == {
        ("red", "ada"): Decimal("8.92"), ("red", "bob"): Decimal("8.92"), ("blue", "ada"): Decimal("9.45"),
    }  # fmt: skip
    (most,) = priced(held(Meter.CORE_HOURS, 10), discounts=[{"percent": "80"}, {"percent": "80"}])
    assert most.total == 0


@pytest.mark.parametrize(("missed", "credit"), [(None, "0"), (0.001, "0"), (0.02, "2.50"), (0.5, "10.00")])
def test_missed_bandwidth_gives_credit_for_bandwidth_only(missed: float | None, credit: str) -> None:
    credits_of = [
        {"when": "missed_share > 0.1", "percent": "100"},
        {"when": "missed_share > 0.01", "percent": "25"},
    ]
    bandwidth, cores = priced(
        held(Meter.BANDWIDTH_MB_S_HOURS, 1000), held(Meter.CORE_HOURS, 10), missed=missed, credits=credits_of
    )
    assert (bandwidth.meter, bandwidth.credit) == (Meter.BANDWIDTH_MB_S_HOURS, Decimal(credit))
    assert (cores.credit, cores.total) == (0, cores.amount)


def test_a_rate_that_cannot_be_computed_is_a_gap_and_no_zero() -> None:
    rates = [{"meter": "core_hours", "rate": 'tenant == "tenant" ? "1" : tenant'}]
    (line,) = priced(held(Meter.CORE_HOURS, 1), rates=rates)
    assert line.amount is None
    assert "'red' is not an amount" in line.problem
    assert "not priced" in gaps([line], "UTC")[0]


def test_a_list_that_has_ended_leaves_a_gap_and_the_next_one_fills_it() -> None:
    first = read_price_list({**LIST, "until": "2026-11-10"})
    second = read_price_list({**LIST, "from": "2026-11-20T12:00"})
    found = list(periods([second, first], START, END))
    assert [period.prices for period in found] == [first, None, second]
    assert found[0].from_us == START
    assert found[-1].to_us == END
    assert sum(period.to_us - period.from_us for period in found) == 30 * 24 * HOUR_US


def test_a_list_that_ends_while_a_later_one_holds_splits_nothing() -> None:
    first = {**LIST, "until": "2026-11-10"}
    second = {**LIST, "from": "2026-11-05", "discounts": [{"percent": "10", "when": "subtotal > 1.0"}]}
    parts = list(periods([read_price_list(first), read_price_list(second)], START, END))
    assert [part.prices and part.prices.from_us for part in parts] == [START, parts[1].from_us]
    assert parts[-1].to_us == END


@pytest.mark.parametrize(
    ("month", "zone", "hours"),
    [
        ("2026-10", "UTC", 744), ("2026-10", "Europe/Paris", 745), ("2026-03", "Europe/Paris", 743),
        ("2026-11", "America/New_York", 721), ("2026-10", "America/New_York", 744), ("2028-02", "Asia/Kolkata", 696),
    ],
)  # fmt: skip
def test_months_have_the_hours_of_their_zone(month: str, zone: str, hours: int) -> None:
    found = month_of(month, zone)
    assert found.to_us - found.from_us == hours * HOUR_US
    assert month_at(found.from_us / 1e6, zone) == month_at(found.to_us / 1e6 - 1, zone) == found


@pytest.mark.parametrize("name", ["2026-13", "2026-1", "0000-01", "9999-12", "../../etc", "2026-11\n"])
def test_invalid_month_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="month"):
        month_of(name, "UTC")


@pytest.mark.parametrize("zone", ["../../etc/passwd", "/etc/localtime", "No/Where", "", "Europe", "a" * 500])
def test_invalid_zone_is_refused(zone: str) -> None:
    with pytest.raises(DescriptionError):
        read_price_list({**LIST, "zone": zone})


@pytest.mark.parametrize(
    "text",
    [
        "0.1", "1e3 + 1.0", "-1", '"-1"', '"1e9"', "1 / 0", "tenant", "nobody", "[1].map(x, x)", "(" * 400, "'" * 400,
        "!" * 399, "99999999999", "null", "{}", "tenant.matches('(a+)+$') ? '1' : tenant", "duration('1h')", "\x00",
    ],
)  # fmt: skip
def test_results_that_are_no_amount_are_refused(text: str) -> None:
    if text == "0.1":
        assert amount_of(text, NAMES) == Decimal("0.1")  # an amount as it is, and no expression
        return
    with pytest.raises(ExpressionError):
        amount_of(text, NAMES)


@given(st.text(max_size=120))
def test_any_text_gives_a_result_or_is_refused(text: str) -> None:
    for ask in (amount_of, is_true):
        with suppress(ExpressionError):
            assert ask(text, NAMES) >= 0


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from([*LIST, "until", "digits", "zone", "discounts", "credits", "meter", "rate", "x"]), inner
    ),
))  # fmt: skip
def test_any_document_is_read_or_refused(document: Any) -> None:
    for entry in (document, {**LIST, "rates": [document]}, {**LIST, "from": document, "zone": document}):
        with suppress(DescriptionError):
            read_price_list(entry)


def test_an_estimate_prices_all_services_and_says_what_it_cannot() -> None:
    what = application(component("worker", 1, 3, reservation=Resources(2000, GIB, {"gpu": 1})))
    prices = read_price_list({**LIST, "rates": [{"meter": "core_hours", "rate": "0.10"}]})
    amount, missing = estimate(what, "red", "ada", 7200.0, prices)
    assert amount == Decimal("1.20")
    assert ["memory_gib_hours" in missing[0], "device_hours of gpu" in missing[1]] == [True, True]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"from": "2027-03-28T02:30:00", "zone": "Europe/Paris"}, "does not exist in Europe/Paris"),
        ({"discounts": [{"name": "all", "percent": "160"}]}, "percentages are at most 100"),
        ({"credits": [{"percent": '"160"'}]}, "percentages are at most 100"),
        ({"rates": [{"meter": "core_hourz", "rate": "1"}]}, "'core_hourz' is not a meter (did you mean 'core_hours'?)"),
    ],
)
def test_senseless_price_list_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        read_price_list({**LIST, **changes})
    assert any(said in str(diagnostic) for diagnostic in refused.value.diagnostics), refused.value.diagnostics


def test_why_a_rate_is_missing_is_not_hidden_by_a_discount_that_fails() -> None:
    rates = [{"meter": "core_hours", "rate": 'tenant == "tenant" ? "1" : tenant'}]
    discounts = [{"name": "all", "percent": 'tenant == "tenant" ? "1" : "1e2"'}]
    (line,) = priced(held(Meter.CORE_HOURS, 1), rates=rates, discounts=discounts)
    assert "'red' is not an amount" in line.problem


def test_a_discount_that_fails_for_one_tenant_leaves_the_lines_of_all_others() -> None:
    discounts = [{"name": "all", "percent": 'tenant == "red" ? tenant : "10"'}]
    used = [held(Meter.CORE_HOURS, 2, tenant=name) for name in ("red", "blue", "green")]
    found = {line.tenant: line for line in priced(*used, discounts=discounts)}
    assert found.keys() == {"red", "blue", "green"}
    assert "no discount or credit" in found["red"].problem
    assert (found["red"].amount, found["red"].discount) == (Decimal("0.21"), Decimal(0))
    assert [found[name].discount for name in ("blue", "green")] == [Decimal("0.02")] * 2
