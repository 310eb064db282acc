"""Messages that overtake each other are ignored; a sender that begins again is heard, whatever its clock says."""

from __future__ import annotations

from storage_filters.bandwidth.newest import NewestMessage

SILENCE_S = 5.0
HOUR_NS = 3600 * 10**9


def heard(newest: NewestMessage, epoch: int, number: int, now_s: float) -> bool:
    if newest.is_outdated((epoch, number), now_s):
        return False
    newest.record((epoch, number), now_s)
    return True


def test_only_what_is_newer_counts() -> None:
    newest = NewestMessage(SILENCE_S)
    assert heard(newest, 7, 1, 100.0)
    assert heard(newest, 7, 3, 100.1)
    assert not heard(newest, 7, 2, 100.2)
    assert not heard(newest, 7, 3, 100.2)
    assert heard(newest, 8, 1, 100.3)
    assert not heard(newest, 7, 4, 100.4)


def test_a_sender_that_begins_again_by_a_clock_that_has_gone_back_is_heard_soon() -> None:
    newest = NewestMessage(SILENCE_S)
    assert heard(newest, 2 * HOUR_NS, 1000, 100.0)
    assert not heard(newest, HOUR_NS, 1, 104.9)
    assert heard(newest, HOUR_NS, 2, 105.0)
    assert heard(newest, HOUR_NS, 3, 105.1)


def test_one_that_was_paused_is_ignored_while_its_successor_sends() -> None:
    newest = NewestMessage(SILENCE_S)
    assert heard(newest, 1, 1, 100.0)
    assert all(heard(newest, 2, number, 101.0 + number) for number in range(20))
    assert not heard(newest, 1, 2, 121.0)
