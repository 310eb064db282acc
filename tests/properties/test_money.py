"""Any mix of prices, discounts, credits, zones, rounding and budgets: statements equal an account in fractions, to the
last digit.

The account is written from the words of docs/operate/prices.md alone. Conditions of price lists stand beside their
meaning in Python.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_UP, Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.applications import GIB, application, component
from tests.support.checks import of_checks
from zoe_lib.domain.executions.metering import Meter, MeteredUse
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, Pushdown, StorageDemand, StorageObject
from zoe_lib.pricing.displayed_prices import displayed_price
from zoe_lib.pricing.estimate import estimate
from zoe_lib.pricing.price_list import PriceList, read_price_list
from zoe_lib.pricing.statement import Line, gaps, in_force, lines
from zoe_lib.pricing.zones import Month, month_at, month_of
from zoe_lib.store.people import Principal
from zoe_lib.store.postgres.billing import BillingStore, Statement
from zoe_lib.store.sql.billing.prices import Budget
from zoe_lib.submission.budgets import budget_warnings
from zoe_lib.submission.refusal import SubmissionRefused
from zoe_lib.submission.spending import read_spent

Values = Mapping[str, Any]
Said = tuple[Any, Callable[[Values], Any]]
"""A price list's text, and its meaning; None: it cannot be computed."""

TENANTS, USERS, APPLICATIONS, DEVICES = ("red", "blue"), ("ada", "eve"), ("mean", "free"), ("gpu", "tpu")
MONTHS = ("2026-03", "2026-10", "2026-11", "2028-02", "2026-12")  # clocks change, a leap day, the end of a year
ZONES = ("UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata")
SPREAD = ("0.01", "0.105", "1", "3.3333", "12.5", "0.000000000007", "250")
HOURS_US = 3600 * 10**6
UNIT = {
    Meter.CORE_HOURS: 1000 * HOURS_US,
    Meter.MEMORY_GIB_HOURS: 1024**3 * HOURS_US,
    Meter.DEVICE_HOURS: HOURS_US,
    Meter.BANDWIDTH_MB_S_HOURS: 1000**2 * HOURS_US,
    Meter.VIEW_HOURS: HOURS_US,
    Meter.READ_GB: 1000**3,
    Meter.WRITTEN_GB: 1000**3,
}
CASES = settings(max_examples=of_checks(0.5, 20_000), phases=(Phase.explicit, Phase.reuse, Phase.generate))
SEED = st.integers(0, 2**32)  # as in test_statements.py: of Hypothesis's own, lists are seldom long


def same(text: str) -> Said:
    return text, lambda _: Fraction(text)


def amounts(chance: Random, spread: Sequence[str]) -> Said:
    one, other = chance.choice(spread), chance.choice(spread)
    return chance.choices(
        [
            same(one),
            (7, lambda _: Fraction(7)),
            ("2 + 3", lambda _: Fraction(5)),
            (f'tenant == "red" ? "{one}" : "{other}"', lambda v: Fraction(one if v["tenant"] == "red" else other)),
            ('tenant == "blue" ? tenant : "4"', lambda v: None if v["tenant"] == "blue" else Fraction(4)),
        ],
        [12, 1, 1, 3, 1],
    )[0]


def conditions(chance: Random, known: Sequence[Said]) -> Said:
    always: Said = (None, lambda _: True)
    return chance.choice([always, always, ('tenant == "red"', lambda v: v["tenant"] == "red"), *known])


OF_RATES: Sequence[Said] = (
    ('application == "free"', lambda v: v["application"] == "free"),
    ('device == "gpu"', lambda v: v["device"] == "gpu"),
    ('user.startsWith("a")', lambda v: v["user"].startswith("a")),
)
OF_DISCOUNTS: Sequence[Said] = (
    ("subtotal > 20.0", lambda v: v["subtotal"] > 20),
    ("subtotal >= 0.25", lambda v: v["subtotal"] >= Fraction("0.25")),
    ("subtotal < 500.0", lambda v: v["subtotal"] < 500),
)
OF_CREDITS: Sequence[Said] = (
    ("missed_share > 0.1", lambda v: v["missed_share"] > 0.1),
    ("missed_share > 0.25", lambda v: v["missed_share"] > 0.25),
)
HOURLY = {"ada": Decimal("0.5"), "eve": Decimal("0.25")}
PERCENTS = ("5", "7.25", "12.5", "33.333333333333", "70", "100")


@dataclass(frozen=True)
class Row:
    meter: Meter | None
    when: Said
    amount: Said

    def document(self, name: str) -> dict[str, Any]:
        found = {name: self.amount[0]} | ({"meter": self.meter.value} if self.meter is not None else {})
        return found if self.when[0] is None else {**found, "when": self.when[0]}


@dataclass(frozen=True)
class Prices:
    """A price list, as the account knows it."""

    begins: datetime
    ends: datetime | None
    digits: int | None
    rates: Sequence[Row]
    discounts: Sequence[Row]
    credits: Sequence[Row]

    def document(self, zone: str) -> dict[str, Any]:
        found: dict[str, Any] = {"currency": "EUR", "zone": zone, "from": f"{self.begins:%Y-%m-%dT%H:%M:%S}"}
        found |= {} if self.ends is None else {"until": f"{self.ends:%Y-%m-%dT%H:%M:%S}"}
        found |= {} if self.digits is None else {"digits": self.digits}
        found |= {"rates": [rate.document("rate") for rate in self.rates]}
        for name in ("discounts", "credits"):
            rows = [entry.document("percent") for entry in getattr(self, name)]
            found |= {name: [{**row, "name": f"{name}{i}"} for i, row in enumerate(rows)]} if rows else {}
        return found

    def rounded(self, exact: Fraction) -> Fraction:
        places = 10 ** (2 if self.digits is None else self.digits)
        return Fraction(round(exact * places), places)  # half to even


@dataclass(frozen=True)
class Use:
    """So much of a meter is held from one moment to another."""

    tenant: str
    user: str
    application: str
    meter: Meter
    device: str
    begins_us: int
    ends_us: int
    amount: int
    unused: float | None

    def metered(self, from_us: int, to_us: int) -> MeteredUse:
        lasted = max(min(self.ends_us, to_us) - max(self.begins_us, from_us), 0)
        who = (self.tenant, self.user, self.application, self.meter)
        return MeteredUse(*who, lasted * self.amount, self.device, unused=self.unused)


@dataclass(frozen=True)
class Case:
    month: Month
    zone: str
    lists: Sequence[Prices]
    uses: Sequence[Use]
    missed: Mapping[str, float | None]

    @classmethod
    def random(cls, chance: Random) -> Case:
        name, zone = chance.choice(MONTHS), chance.choice(ZONES)
        first = datetime.fromisoformat(f"{name}-01")
        following = (first + timedelta(days=31)).replace(day=1)
        month = Month(name, us(first, zone), us(following, zone))
        days = [first - timedelta(days=20), first, *(first + timedelta(days=n, hours=5) for n in (1, 9, 14, 27, 40))]
        begins = chance.sample(days, chance.choice([1, 1, 2, 3]))
        uses = {}
        for _ in range(chance.randint(1, 7)):
            one = random_use(chance, month)
            uses[one.tenant, one.user, one.application, one.meter, one.device] = one
        missed = {tenant: chance.choice([None, 0.1, 0.2, 0.9]) for tenant in TENANTS}
        lists = [random_prices(chance, begin, days) for begin in begins]
        return cls(month, zone, lists, list(uses.values()), missed)

    def read(self) -> list[PriceList]:
        return [read_price_list(prices.document(self.zone)) for prices in self.lists]

    def lines(self) -> tuple[Line, ...]:
        def held(from_us: int, to_us: int) -> list[MeteredUse]:
            return [use.metered(from_us, to_us) for use in self.uses]

        months = month_of(self.month.name, self.zone)
        return lines(self.read(), months.from_us, months.to_us, held, lambda tenant, *_: self.missed[tenant])


def us(at: datetime, zone: str) -> int:
    return round(at.replace(tzinfo=ZoneInfo(zone)).timestamp()) * 10**6


def random_prices(chance: Random, begins: datetime, days: Sequence[datetime]) -> Prices:
    later = [day + timedelta(hours=1) for day in days if day >= begins]
    meters = [meter for meter in Meter if chance.random() < 0.9] or [Meter.CORE_HOURS]
    rates = [Row(m, conditions(chance, OF_RATES), amounts(chance, SPREAD)) for m in meters for _ in range(2)]
    rates += [Row(m, (None, lambda _: True), same(chance.choice(SPREAD))) for m in meters if chance.random() < 0.8]
    discounts, credits_ = (
        [Row(None, conditions(chance, of), amounts(chance, PERCENTS)) for _ in range(chance.choice([0, 1, 1, 2]))]
        for of in (OF_DISCOUNTS, OF_CREDITS)
    )
    ends = chance.choice([None, None, *later])
    return Prices(begins, ends, chance.choice([None, 0, 1, 2, 3, 6]), rates, discounts, credits_)


def random_use(chance: Random, month: Month) -> Use:
    meter = chance.choice([*Meter, *[Meter.BANDWIDTH_MB_S_HOURS] * 3])
    begins_us = chance.choice([month.from_us - 5, month.from_us, chance.randint(month.from_us, month.to_us - 1)])
    ends_us = begins_us + chance.choice([1, 10**10, chance.randint(1, 40 * 24) * HOURS_US, chance.randint(1, 10**12)])
    amount = chance.choice([1, 1500, *(chance.randint(1, 3 * UNIT[meter] // HOURS_US + 1) for _ in range(5))])
    return Use(
        chance.choice(TENANTS), chance.choice(USERS), chance.choice(APPLICATIONS), meter,
        chance.choice(DEVICES) if meter is Meter.DEVICE_HOURS else "", begins_us, ends_us, amount,
        chance.choice([None, 0.5, 0.1234567, 1.0]),
    )  # fmt: skip


# -- the account -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Charge:
    units: int
    rate: Fraction | None = None
    amount: Fraction | None = None
    discount: Fraction = Fraction(0)
    credit: Fraction = Fraction(0)
    unused: Fraction | None = None

    @property
    def total(self) -> Fraction:
        return (self.amount or 0) - self.discount - self.credit


Key = tuple[str, ...]
Spans = list[tuple[int, int, Prices | None]]


def holding(case: Case) -> Spans:
    """Each longest part of the month in which the same list holds, or none."""
    moments = {case.month.from_us, case.month.to_us}
    for entry in case.lists:
        moments |= {us(at, case.zone) for at in (entry.begins, entry.ends) if at is not None}
    inside = sorted(at for at in moments if case.month.from_us <= at <= case.month.to_us)
    spans: Spans = []
    for begins_us, ends_us in pairwise(inside):
        begun = sorted(
            (prices for prices in case.lists if us(prices.begins, case.zone) <= begins_us), key=lambda o: o.begins
        )
        last = begun[-1] if begun else None
        ended = last is not None and last.ends is not None and us(last.ends, case.zone) <= begins_us
        prices = None if ended else last
        before = spans.pop() if spans and spans[-1][2] is prices else None
        spans.append((before[0] if before else begins_us, ends_us, prices))
    return spans


def account(case: Case) -> dict[Key, Charge]:
    found: dict[Key, Charge] = {}
    for begins_us, ends_us, prices in holding(case):
        for tenant in TENANTS:
            found |= of_tenant(case, tenant, begins_us, ends_us, prices)
    return found


def of_tenant(case: Case, tenant: str, begins_us: int, ends_us: int, prices: Prices | None) -> dict[Key, Charge]:
    charges: dict[Key, Charge] = {}
    meters: dict[Key, Meter] = {}
    for use in case.uses:
        units = use.metered(begins_us, ends_us).units
        if use.tenant == tenant and units:
            key = (tenant, use.user, use.application, use.meter.value, use.device, str(begins_us), str(ends_us))
            charges[key], meters[key] = charged(use, units, prices), use.meter
    if prices is None:
        return charges
    subtotal = sum((charge.amount or 0 for charge in charges.values()), Fraction(0))
    off = total_percent(prices.discounts, {"tenant": tenant, "subtotal": subtotal})
    missed = case.missed[tenant]
    back: Fraction | None = Fraction(0)
    if prices.credits and missed is not None:
        back = first_percent(prices.credits, {"tenant": tenant, "missed_share": missed})
    if off is None or back is None:
        return charges
    for key, charge in charges.items():
        amount = charge.amount or Fraction(0)
        discount = prices.rounded(amount * off / 100)
        credit = prices.rounded((amount - discount) * back / 100)
        has_credit = meters[key] is Meter.BANDWIDTH_MB_S_HOURS
        charges[key] = replace(charge, discount=discount, credit=credit if has_credit else Fraction(0))
    return charges


def charged(use: Use, units: int, prices: Prices | None) -> Charge:
    values = {"tenant": use.tenant, "user": use.user, "application": use.application, "device": use.device}
    rows = [row for row in (prices.rates if prices else ()) if row.meter is use.meter and row.when[1](values)]
    rate = rows[0].amount[1](values) if rows else None
    if prices is None or rate is None:
        return Charge(units)
    amount = prices.rounded(units * rate / UNIT[use.meter])
    share = None if use.unused is None else Fraction(round(use.unused * 10**6), 10**6)
    return Charge(units, rate, amount, unused=None if share is None else prices.rounded(amount * share))


def total_percent(rows: Sequence[Row], values: Values) -> Fraction | None:
    parts = [row.amount[1](values) for row in rows if row.when[1](values)]
    return None if None in parts else min(sum(parts, Fraction(0)), Fraction(100))


def first_percent(rows: Sequence[Row], values: Values) -> Fraction | None:
    parts = [row.amount[1](values) for row in rows if row.when[1](values)]
    return parts[0] if parts else Fraction(0)


# --------------------------------------------------------------------------------------------------------------------
def key_of(line: Line) -> Key:
    who = (line.tenant, line.user, line.application, line.meter.value, line.device)
    return (*who, str(line.from_us), str(line.to_us))


def charge_of(line: Line) -> Charge:
    exact = {name: getattr(line, name) for name in ("rate", "amount", "discount", "credit", "unused")}
    return Charge(line.units, **{name: None if entry is None else Fraction(entry) for name, entry in exact.items()})


@CASES
@given(seed=SEED)
def test_a_statement_is_what_the_account_says(seed: int) -> None:
    case = Case.random(Random(seed))
    found, expected = case.lines(), account(case)
    assert {key_of(line): charge_of(line) for line in found} == expected
    assert len(found) == len(expected)
    assert [(line.tenant, line.user) for line in found] == sorted((line.tenant, line.user) for line in found)
    for line in found:
        assert line.total == (line.amount or 0) - line.discount - line.credit
        assert line.total >= 0
        assert 0 <= line.credit <= (line.amount or 0) - line.discount
        assert line.credit == 0 or line.meter is Meter.BANDWIDTH_MB_S_HOURS
        assert min(line.discount, line.unused or 0, line.units - 1) >= 0
        assert (line.unused or 0) <= (line.amount or 0)
        assert abs(Fraction(line.quantity) - Fraction(line.units, UNIT[line.meter])) <= Fraction(1, 2 * 10**6)
        assert bool(line.problem) or line.amount is not None
    assert bool(gaps(found, case.zone)) == any(line.problem for line in found)
    unpriced = [line for line in found if line.amount is None]
    assert all(any(line.problem in gap for gap in gaps(found, case.zone)) for line in unpriced)
    for user in USERS:  # a user sees a part of the same lines
        mine = tuple(line for line in found if line.user == user)
        assert set(gaps(mine, case.zone)) <= set(gaps(found, case.zone))


@CASES
@given(seed=SEED, more=st.sampled_from((0, 1)))
def test_a_discount_begins_at_its_subtotal_exactly(seed: int, more: int) -> None:
    case = Case.random(Random(seed))
    plain = replace(case, lists=[replace(prices, digits=2, discounts=(), credits=()) for prices in case.lists])
    amounts = {key[:1] + key[-2:]: Decimal(0) for key in account(plain)}
    for line in plain.lines():
        amounts[line.tenant, str(line.from_us), str(line.to_us)] += line.amount or 0
    edge = max(amounts.values(), default=Decimal(0)) + Decimal("0.01") * more
    off: Said = (f"subtotal >= {float(edge)}", lambda v: v["subtotal"] >= Fraction(edge))
    dear = replace(plain, lists=[replace(prices, discounts=[Row(None, off, same("50"))]) for prices in plain.lists])
    found = {key_of(line): charge_of(line) for line in dear.lines()}
    assert found == account(dear)
    assert more == 0 or not any(charge.discount for charge in found.values())


class Billing(BillingStore):
    """The statement of a case, without a database."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def price_lists(self) -> Any:  # type: ignore[override]
        return [SimpleNamespace(prices=entry) for entry in self._case.read()]

    def statement(self, month: str, now_s: float, tenant: str | None = None) -> Statement:
        assert month == self._case.month.name
        kept = tuple(line for line in self._case.lines() if line.tenant == tenant)
        return Statement(self._case.month, self._case.zone, "EUR", self._case.month.to_us, False, kept, ())

    def hourly(self, tenant: str, now_s: float) -> Mapping[str, Decimal]:
        return HOURLY if tenant == "red" else {}


@CASES
@given(seed=SEED)
def test_budgets_count_what_is_to_be_paid(seed: int) -> None:
    """After discounts and credits: 80 percent warns, all of it refuses, of the tenant and of the user alike."""
    chance = Random(seed)
    case, tenant, user = Case.random(chance), chance.choice(TENANTS), chance.choice(USERS)
    last = chance.choice([case.month.from_us, case.month.to_us - 1]) / 10**6
    spent = read_spent(cast("Any", SimpleNamespace(billing=Billing(case))), tenant, last)
    assert spent is not None
    assert spent.month == case.month.name
    of_users: dict[str, Fraction] = defaultdict(Fraction)
    for key, charge in account(case).items():
        if key[0] == tenant:
            of_users[key[1]] += charge.total
    whole = sum(of_users.values(), Fraction(0))
    assert {name: Fraction(amount) for name, amount in spent.by_user.items() if amount} == {
        k: v for k, v in of_users.items() if v
    }
    for of in (None, user):
        so_far = whole if of is None else of_users[user]
        assert Fraction(spent.amounts_for(of)[0]) == so_far
        hourly = sum(HOURLY.values()) if of is None else HOURLY[user]
        assert spent.amounts_for(of)[1] == (hourly if tenant == "red" else 0)
        for factor in (Fraction(1), Fraction(100, 80), Fraction(3, 2), Fraction(2, 3)):
            exact = so_far * factor
            amount = Decimal(exact.numerator) / Decimal(exact.denominator)
            budget = Budget(
                tenant, of, amount, refuses=chance.random() < 0.5, warn_percent=chance.choice([80, 50, 100])
            )
            warned, refused = warnings_of(budget, spent, tenant, user)
            assert refused == (budget.refuses and so_far >= Fraction(amount) and warned_at(budget, so_far))
            assert warned == (not refused and warned_at(budget, so_far))


def warned_at(budget: Budget, so_far: Fraction) -> bool:
    return so_far >= Fraction(budget.amount) * budget.warn_percent / 100


def warnings_of(budget: Budget, spent: Any, tenant: str, user: str) -> tuple[bool, bool]:
    """Whether there is a warning, and whether it is refused."""
    spending = SimpleNamespace(budgets=lambda *_: [budget], spending_of=lambda *_: spent)
    principal = cast("Principal", SimpleNamespace(tenant=tenant, user=user))
    try:
        return bool(
            list(budget_warnings(cast("Any", SimpleNamespace(spending=spending, store=None)), principal))
        ), False
    except SubmissionRefused:
        return False, True


@CASES
@given(seed=SEED)
def test_an_estimate_is_what_a_statement_of_the_same_use_says_without_discounts(seed: int) -> None:
    chance = Random(seed)
    case, tenant, user = Case.random(chance), chance.choice(TENANTS), chance.choice(USERS)
    cores, memory, workers = chance.choice([250, 1000, 3333]), chance.randint(1, 5) * GIB // 3, chance.randint(1, 4)
    devices = chance.choice([{}, {"gpu": 1}, {"gpu": 2, "tpu": 1}])
    wish = chance.choice([None, Bandwidth(30_000_000, None, Guarantee.REQUIRED), Bandwidth(7_000_001, 5_000_000)])
    views = chance.randint(0, 2)
    inputs = tuple(
        StorageObject(f"i{n}", f"swift2d://b.zoe/{n}", Pushdown(("a",)) if n < views else None) for n in range(3)
    )
    one = replace(
        application(
            component("worker", workers, workers, reservation=Resources(cores, memory, devices)),
            storage=StorageDemand(inputs=inputs, bandwidth=wish),
        ),
        name=chance.choice(APPLICATIONS),
    )  # fmt: skip
    run_s = chance.choice([1.0, 3600.0, 5025.25])
    begins, prices = case.lists[0].begins, case.read()[0]
    assert in_force([prices], us(begins, case.zone)) is prices
    assert in_force([prices], us(begins, case.zone) - 1) is None
    held = {
        (Meter.CORE_HOURS, ""): workers * cores,
        (Meter.MEMORY_GIB_HOURS, ""): workers * memory,
        **{(Meter.DEVICE_HOURS, kind): workers * number for kind, number in devices.items()},
        (Meter.BANDWIDTH_MB_S_HOURS, ""): (wish.read_bytes_per_s or 0) + (wish.write_bytes_per_s or 0) if wish else 0,
        (Meter.VIEW_HOURS, ""): views,
    }
    charges = [
        charged(Use(tenant, user, one.name, meter, kind, 0, 0, 0, None), round(run_s * 10**6) * amount, case.lists[0])
        for (meter, kind), amount in held.items()
        if amount
    ]
    amount, missing = estimate(one, tenant, user, run_s, prices)
    assert Fraction(amount) == sum((charge.amount or 0 for charge in charges), Fraction(0))
    assert len(missing) == sum(charge.amount is None for charge in charges)


@CASES
@given(seed=SEED)
def test_a_month_is_that_of_its_zone_and_each_moment_is_in_one(seed: int) -> None:
    chance = Random(seed)
    case = Case.random(chance)
    assert month_of(case.month.name, case.zone) == case.month
    for at_us, inside in ((case.month.from_us, True), (case.month.to_us - 1, True), (case.month.to_us, False)):
        assert (month_at(at_us / 10**6, case.zone) == case.month) is inside
    for given_list, prices in zip(case.lists, case.read(), strict=True):
        assert prices.from_us == us(given_list.begins, case.zone)
        assert prices.until_us == (None if given_list.ends is None else us(given_list.ends, case.zone))


@given(amount=st.decimals(0, 10**9, places=12), up=st.booleans())
def test_a_price_is_told_with_four_decimals_or_three_digits(amount: Decimal, up: bool) -> None:
    told = displayed_price(amount, ROUND_UP if up else ROUND_HALF_EVEN)
    last = Fraction(1, 10**4)
    while Fraction(0) < amount < 100 * last:  # until it has three digits
        last /= 10
    below = Fraction(amount) // last * last
    nearest = round(Fraction(amount) / last) * last
    assert Fraction(told) == ((below if below == amount else below + last) if up else nearest)


def test_every_feature_comes_up_with_every_other() -> None:
    """Or the account would be compared where nothing meets."""
    seen: dict[frozenset[str], int] = defaultdict(int)
    for seed in range(400):
        case = Case.random(Random(seed))
        for charge in account(case).values():
            seen[frozenset(name for name in ("amount", "discount", "credit", "unused") if getattr(charge, name))] += 1
    assert seen[frozenset({"amount", "discount", "credit", "unused"})] > 10
    assert seen[frozenset({"amount", "credit"})] > 3
