"""Limits on audit entries by strangers per minute."""

from __future__ import annotations

import pytest

from tests.support.manual_clock import ManualClock
from zoe_api.http.attempts.audit_bounds import PerMinute, plain


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_each_key_has_a_place_and_the_rest_is_shared(clock: ManualClock) -> None:
    places = PerMinute(2, 1, clock)
    assert [places.take(key) for key in ("a", "b", "a", "a", "c")] == [True, True, True, False, False]


def test_a_key_beyond_the_number_takes_a_shared_place(clock: ManualClock) -> None:
    places = PerMinute(1, 1, clock)
    assert [places.take(key) for key in ("a", "b", "c", "a")] == [True, True, False, False]
    assert [PerMinute(0, 0, clock).take("a"), PerMinute(0, 1, clock).take("a")] == [False, True]


def test_after_a_minute_all_places_are_free(clock: ManualClock) -> None:
    places = PerMinute(1, 0, clock)
    assert [places.take("a"), places.take("a")] == [True, False]
    clock.advance(59.9)
    assert not places.take("a")
    clock.advance(0.2)
    assert [places.take("b"), places.take("b")] == [True, False]


@pytest.mark.parametrize(("text", "told"), [("abc", "abc"), ("a\0b\nc", "a?b"), ("é ", "é "), ("", "")])
def test_a_strangers_text_is_cut_and_can_be_stored(text: str, told: str) -> None:
    assert plain(text, 3) == told
