"""Cron expressions have the times that croniter, which shares no code with ours, finds for them.

Where the two are known to differ, nothing is drawn, and ours is what Debian's cron does: `29,*` begins with no star, so
that its day counts by itself (croniter takes it for `*`); `4-4` is 4 (croniter: any); `?` is nothing.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from croniter import CroniterBadDateError, CroniterError, croniter

from tests.support.long import LONG
from zoe_lib.schedules.times import BadTimes, CronTimes

SEED = 20261129
EXPRESSIONS = 10_000 if LONG else 300
BEGIN_S = datetime(2027, 1, 15, 10, 7, tzinfo=UTC).timestamp()
TIMES, YEARS_MAX = 5, 60
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
FIELDS = ((0, 59, ()), (0, 23, ()), (1, 31, ()), (1, 12, ("", *MONTHS)), (0, 7, DAYS))
WRONG = ("", "-", "5-", "60", "99", "1-2-3", "*/0", "a", "1,,2", "1-x", "7-3/", "/5", "1/", "-5", "1.5")


def drawn(chance: random.Random, first: int, last: int, names: tuple[str, ...]) -> str:
    """Return a field; one in 200 is wrong."""
    if chance.random() < 0.005:
        return chance.choice(WRONG)
    if chance.random() < 0.35:
        return chance.choice(("*", "*", f"*/{chance.randint(1, last)}"))
    return ",".join(part(chance, first, last, names) for _ in range(chance.choice((1, 1, 2, 3))))


def part(chance: random.Random, first: int, last: int, names: tuple[str, ...]) -> str:
    low, high = sorted((chance.randint(first, last), chance.randint(first, last)))
    told = [
        chance.choice((names[number], names[number].lower()))
        if number < len(names) and chance.random() < 0.3
        else str(number)
        for number in (low, high)
    ]
    if low == high or chance.random() < 0.4:
        return told[0]
    return "-".join(told) + (f"/{chance.randint(1, last)}" if chance.random() < 0.5 else "")


def ours(expression: str) -> list[float]:
    try:
        times, found = CronTimes(expression, "UTC"), [BEGIN_S]
    except BadTimes:
        return []
    while len(found) <= TIMES and (after := times.next_after(found[-1])) is not None:
        found.append(after)
    return found[1:]


def theirs(expression: str) -> list[float]:
    """An expression without any time counts as wrong, as with ours."""
    found: list[float] = []
    try:
        times = croniter(expression, BEGIN_S, implement_cron_bug=True, max_years_between_matches=YEARS_MAX)
        found.extend(times.get_next(float) for _ in range(TIMES))
    except CroniterBadDateError:
        return found
    except (CroniterError, ValueError):
        return []
    return found


def test_others_find_the_same_times() -> None:
    print(f"seed {SEED}")
    chance, accepted, asked = random.Random(SEED), 0, 0
    while accepted < EXPRESSIONS:
        expression = " ".join(drawn(chance, *field) for field in FIELDS)
        found = ours(expression)
        assert found == theirs(expression), expression
        accepted, asked = accepted + bool(found), asked + 1
    assert accepted < asked, "none was wrong"


@pytest.mark.parametrize(
    ("expression", "days"),
    [
        ("0 0 29,* * 1", [16, 17, 18]),  # Debian's cron: no star at its beginning, so one of the two days is enough
        ("0 0 *,29 * 1", [18, 25, 1]),
        ("0 0 */2 * 1", [25, 1, 15]),
        ("0 0 20-20 * *", [20, 20, 20]),
    ],
)
def test_a_star_is_one_at_the_beginning_of_a_field(expression: str, days: list[int]) -> None:
    assert [datetime.fromtimestamp(our, UTC).day for our in ours(expression)][: len(days)] == days
