"""Sums of the accounts over all nodes."""

from __future__ import annotations

from tests.support.scheduling import GIB, ledger, node, queued, started
from zoe_lib.domain.values.resources import Resources


def test_emptied_it_is_as_if_nothing_ran_and_the_accounts_stay() -> None:
    full = node("a", devices={"gpu": 1}, foreign=Resources(1000, GIB, {"gpu": 1}))
    accounts = ledger(full, active=(started(queued("r"), "a"),))
    empty = accounts.without_services()
    assert (empty.free(0), empty.free_cores_in_all, empty.services) == (full.total, 8000, [0])
    assert (accounts.free_cores_in_all, accounts.services) == (6000, [1])
