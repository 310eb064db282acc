"""One pace for an account, whichever workers serve it."""

from __future__ import annotations

import multiprocessing
import os
import pwd
import tempfile
from pathlib import Path

import pytest

from storage_filters.counting.rate_table import (
    ALL_FURTHER,
    Direction,
    RateTable,
    Turn,
    Use,
    belonging_to,
    name_in_table,
)

RATE = 1000.0
SLOTS_OF_ACCOUNTS = 2045
NOW = 100.0


@pytest.fixture
def table(tmp_path: Path) -> RateTable:
    return RateTable(tmp_path / "rates", burst_s=0.5)


def test_without_a_limit_nobody_waits_and_bytes_are_counted(table: RateTable) -> None:
    assert table.turn("acme", "get", 10**9, NOW).wait_s == 0
    assert table.turn("acme", "get", 10**9, NOW).wait_s == 0
    assert table.uses_by_account(NOW) == {("acme", "get"): Use(2 * 10**9, waits=False)}


def test_pieces_follow_each_other_at_the_rate_after_a_burst(table: RateTable) -> None:
    table.set_rates({("acme", "get"): RATE}, NOW)
    waits = [table.turn("acme", "get", 250, NOW).wait_s for _ in range(5)]
    assert waits == pytest.approx([0, 0, 0, 0.25, 0.5])
    assert table.turn("acme", "get", 250, NOW + 10).wait_s == 0  # idle time is worth one burst, not ten seconds
    assert [table.turn("acme", "get", 500, NOW + 10).wait_s for _ in range(3)] == pytest.approx([0, 0.25, 0.75])


def test_accounts_and_directions_do_not_share(table: RateTable) -> None:
    table.set_rates({("acme", "get"): RATE}, NOW)
    table.turn("acme", "get", 10_000, NOW)
    assert table.turn("acme", "put", 10_000, NOW).wait_s == 0
    assert table.turn("beta", "get", 10_000, NOW).wait_s == 0


def test_another_rate_counts_at_once_and_what_was_spoken_for_stays_so(table: RateTable) -> None:
    table.set_rates({("acme", "get"): 1.0}, NOW)
    turns = [table.turn("acme", "get", 1000, NOW) for _ in range(2)]
    assert turns[1] == Turn(pytest.approx(999.5), 1.0, 1000)
    table.set_rates({("acme", "get"): RATE}, NOW)
    assert table.left_s("acme", "get", turns[1].place, NOW + 0.5) == pytest.approx(0.4995)
    assert table.turn("acme", "get", 1, NOW).wait_s == pytest.approx(1.9995)
    table.set_rates({}, NOW)
    assert table.left_s("acme", "get", turns[1].place, NOW + 0.5) == 0
    assert [table.turn("acme", "get", 10**6, NOW).wait_s for _ in range(2)] == [0, 0]


def test_lower_rate_applies_to_waiting_turns_in_order(table: RateTable) -> None:
    """Also whose time would have come before it looks again: else those behind would wait for bytes that have moved."""
    table.set_rates({("acme", "get"): RATE}, NOW)
    turns = [table.turn("acme", "get", 100, NOW) for _ in range(8)]
    assert [turn.wait_s for turn in turns[-3:]] == pytest.approx([0, 0.1, 0.2])
    table.set_rates({("acme", "get"): 10.0}, NOW)
    left = [table.left_s("acme", "get", turn.place, NOW + 0.25) for turn in turns[-2:]]
    assert left == pytest.approx([9.75, 19.75])
    assert table.turn("acme", "get", 100, NOW + 0.25).wait_s == pytest.approx(29.75)


def test_account_is_reported_as_waiting_until_its_last_turn(table: RateTable) -> None:
    table.set_rates({("acme", "get"): RATE}, NOW)
    table.turn("acme", "get", 500, NOW)
    assert table.uses_by_account(NOW) == {("acme", "get"): Use(500, waits=False)}
    table.turn("acme", "get", 500, NOW)
    assert table.uses_by_account(NOW + 0.4) == {("acme", "get"): Use(1000, waits=True)}
    assert table.uses_by_account(NOW + 0.5) == {("acme", "get"): Use(1000, waits=False)}


def test_new_limit_starts_with_an_empty_burst(table: RateTable) -> None:
    table.turn("acme", "get", 10**6, NOW)
    table.set_rates({("acme", "get"): RATE}, NOW)
    assert [table.turn("acme", "get", 500, NOW).wait_s for _ in range(2)] == pytest.approx([0, 0.5])


def test_whom_no_limit_names_may_what_others_may_from_the_first_byte_on(table: RateTable) -> None:
    table.turn("known", "get", 1, NOW)
    table.set_rates({("acme", "get"): RATE}, NOW, {"get": RATE / 2, "put": RATE / 4})
    for account, direction, rate in (("known", "get", RATE / 2), ("new", "get", RATE / 2), ("new", "put", RATE / 4)):
        assert table.turn(account, direction, 1, NOW).rate == rate
    assert [table.turn("newer", "get", 250, NOW).wait_s for _ in range(3)] == pytest.approx([0, 0, 0.5])
    table.set_rates({}, NOW)
    assert table.turn("newest", "get", 10**9, NOW).rate == 0


def _take(path: Path, pieces: int) -> None:
    other = RateTable(path)
    for _ in range(pieces):
        other.turn("acme", "get", 10, NOW)
    other.close()


def test_processes_share_one_pace(tmp_path: Path) -> None:
    table = RateTable(tmp_path / "rates", burst_s=0.0)
    table.set_rates({("acme", "get"): RATE}, NOW)
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_take, args=(tmp_path / "rates", 1000)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert table.uses_by_account(NOW) == {("acme", "get"): Use(20_000, waits=True)}
    # 20,000 bytes were given their time, in whichever process; allowed were two bursts of half a second.
    assert table.turn("acme", "get", 10, NOW).wait_s == pytest.approx(19.5, abs=0.51)


def test_accounts_beyond_the_table_share_one_pace_and_are_never_refused(table: RateTable) -> None:
    for number in range(SLOTS_OF_ACCOUNTS):
        table.turn(f"a{number}", "get", 1, NOW)
    others: dict[Direction, float] = {"get": 10.0, "put": 20.0}
    table.set_rates({("a0", "get"): RATE, ("late", "get"): 3 * RATE}, NOW, others)
    assert table.turn("late", "get", 100, NOW).rate == 10.0
    assert table.turn("later", "get", 100, NOW).wait_s == pytest.approx(9.5)
    assert table.turn("later", "put", 100, NOW).rate == 20.0
    assert table.turn("a0", "get", 1, NOW).rate == RATE
    uses = table.uses_by_account(NOW)
    assert len(uses) == SLOTS_OF_ACCOUNTS + 2
    assert (uses[ALL_FURTHER, "get"].total, uses[ALL_FURTHER, "put"].total) == (200, 100)


def test_executions_have_a_pace_of_their_own_and_leave_the_table_when_idle(tmp_path: Path) -> None:
    one, other = RateTable(tmp_path / "rates"), RateTable(tmp_path / "rates")
    name = name_in_table("acme", "x1")
    one.set_rates({(name, "get"): RATE}, NOW)
    one.turn(name, "get", 10_000, NOW)
    assert one.turn("acme", "get", 10_000, NOW).wait_s == 0
    assert other.turn(name, "get", 1, NOW).wait_s > 5
    one.set_rates({}, NOW + 30)
    assert (name, "get") in one.uses_by_account(NOW + 30), "a limit that is lifted is not the end"
    one.set_rates({}, NOW + 90)
    assert set(one.uses_by_account(NOW + 90)) == {("acme", "get")}, "accounts stay"
    assert other.turn(name, "get", 7, NOW + 91) == Turn(0.0, 0.0, 0), "by the other process it is found again"
    assert one.uses_by_account(NOW + 91)[name, "get"].total == 7


def test_many_executions_one_after_the_other_never_fill_the_table(table: RateTable) -> None:
    for number in range(SLOTS_OF_ACCOUNTS + 200):
        at_s = NOW + number
        table.turn(f"acme/x{number}", "get", 1, at_s)
        if number % 50 == 0:
            table.set_rates({}, at_s)
    assert (ALL_FURTHER, "get") not in table.uses_by_account(at_s)
    assert table.uses_by_account(at_s)[f"acme/x{number}", "get"].total == 1


def test_a_name_that_does_not_fit_counts_for_its_account() -> None:
    assert name_in_table("acme", "") == "acme"
    assert name_in_table("a" * 60, "x" * 15) == "a" * 60 + "/" + "x" * 15
    assert name_in_table("a" * 61, "x" * 15) == "a" * 61


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create files for other users")
def test_files_made_by_root_belong_to_the_user() -> None:
    user = pwd.getpwnam("daemon")
    with tempfile.TemporaryDirectory() as apart:
        os.chown(apart, user.pw_uid, user.pw_gid)
        for name, owner in (("daemon", user.pw_uid), ("nobody-of-that-name", 0)):
            path = Path(apart) / name
            with belonging_to(name):
                RateTable(path).close()
            assert path.stat().st_uid == owner
        assert (os.geteuid(), os.getegid()) == (0, 0)
