"""Pauses grow to a limit while errors continue, and are short again after a quiet time."""

from __future__ import annotations

from zoe_master.background.leader_pauses import LeaderPauses


def test_pauses_double_to_a_minute_and_start_again_after_ten_quiet_minutes() -> None:
    pauses = LeaderPauses()
    assert [pauses.next_s(1000.0 + i) for i in range(9)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert pauses.next_s(1008.0 + 600.0) == 60
    assert pauses.next_s(1608.0 + 600.5) == 1
