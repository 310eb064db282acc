"""How much is held at once agrees with looking at each moment."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zoe_master.scheduler.booking.spans import BookingSpans, Span, most_held

_TIMES = st.integers(0, 20).map(float)
_SPANS = st.lists(st.tuples(_TIMES, _TIMES, st.integers(0, 9)), max_size=8)


def at_each_moment(spans: list[Span], begins_s: float, ends_s: float) -> int:
    halves = [number / 2 for number in range(42) if begins_s <= number / 2 < ends_s]
    return max((sum(held for a, b, held in spans if a <= at_s < b) for at_s in halves), default=0)


@given(_SPANS, _TIMES, _TIMES)
def test_the_most_that_is_held_at_once(spans: list[Span], begins_s: float, ends_s: float) -> None:
    assert most_held(spans, begins_s, ends_s) == at_each_moment(spans, begins_s, ends_s)


@given(_SPANS, _TIMES, _TIMES)
def test_a_table_says_the_same(spans: list[Span], now_s: float, ends_s: float) -> None:
    assert BookingSpans(spans, now_s).most_before(ends_s) == at_each_moment(spans, now_s, ends_s)
