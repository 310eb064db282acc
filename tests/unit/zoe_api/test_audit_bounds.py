"""How many entries strangers may cause in a minute."""

from __future__ import annotations

import pytest

from zoe_api import audit_bounds
from zoe_api.audit_bounds import PerMinute, plain


class Clock:
    now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(audit_bounds, "time", made)
    return made


def test_each_key_has_a_place_and_the_rest_is_shared(clock: Clock) -> None:
    places = PerMinute(2, 1)
    assert [places.take(key) for key in ("a", "b", "a", "a", "c")] == [True, True, True, False, False]


def test_a_key_beyond_the_number_takes_a_shared_place(clock: Clock) -> None:
    places = PerMinute(1, 1)
    assert [places.take(key) for key in ("a", "b", "c", "a")] == [True, True, False, False]
    assert [PerMinute(0, 0).take("a"), PerMinute(0, 1).take("a")] == [False, True]


def test_after_a_minute_all_places_are_free(clock: Clock) -> None:
    places = PerMinute(1, 0)
    assert [places.take("a"), places.take("a")] == [True, False]
    clock.now_s += 59.9
    assert not places.take("a")
    clock.now_s += 0.2
    assert [places.take("b"), places.take("b")] == [True, False]


@pytest.mark.parametrize(("text", "told"), [("abc", "abc"), ("a\0b\nc", "a?b"), ("é ", "é "), ("", "")])
def test_a_strangers_text_is_cut_and_can_be_stored(text: str, told: str) -> None:
    assert plain(text, 3) == told
