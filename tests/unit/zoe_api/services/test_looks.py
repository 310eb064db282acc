"""Looks of operators are recorded once in a while."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.plain_api import Accounts, operator, request
from zoe_api.access.access import entry
from zoe_api.services import looks
from zoe_api.services.looks import AGAIN_S, Looks
from zoe_lib.store.errors import StoreUnavailable


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def look(made: Looks, accounts: Accounts, target: str = "/a", user: str = "olga") -> None:
    made.record(accounts, entry(operator(user), request(), "look", target, 200))


def test_the_same_look_is_recorded_again_after_a_quarter_of_an_hour(clock: ManualClock) -> None:
    made, accounts = Looks(clock), Accounts()
    for after_s, recorded in ((0.0, 1), (AGAIN_S - 0.1, 1), (0.2, 2)):
        clock.advance(after_s)
        look(made, accounts)
        assert len(accounts.entries) == recorded
    look(made, accounts, "/b")
    look(made, accounts, "/a", "otto")
    assert len(accounts.entries) == 4
    assert AGAIN_S == 900


def test_a_look_that_could_not_be_recorded_is_recorded_next_time(clock: ManualClock) -> None:
    made, accounts = Looks(clock), Accounts()
    accounts.away = True
    with pytest.raises(StoreUnavailable):
        look(made, accounts)
    accounts.away = False
    look(made, accounts)
    assert len(accounts.entries) == 1


def test_the_oldest_looks_are_forgotten(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "_REMEMBERED_MAX", 2)
    made, accounts = Looks(clock), Accounts()

    def recorded(target: str) -> Any:
        before = len(accounts.entries)
        look(made, accounts, target)
        return len(accounts.entries) - before

    assert [recorded(entry) for entry in ("/a", "/b", "/c", "/b", "/a")] == [1, 1, 1, 0, 1]
