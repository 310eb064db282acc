"""Sums of the accounts over all nodes."""

from __future__ import annotations

import math

from tests.support.scheduling import GIB, component, ledger, node, queued, started
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.placement.ledger import Ledger


def test_capacity_is_the_number_of_services_that_fit_on_all_nodes() -> None:
    ledger = Ledger((node("a", cores=4, memory_gib=8), node("b", cores=3, memory_gib=64)), ())
    assert ledger.capacity(Resources(2000, GIB)) == 3
    assert ledger.capacity(Resources(1000, 4 * GIB)) == 5
    assert ledger.capacity(Resources(0, 8 * GIB)) == 9
    assert ledger.capacity(Resources(5000)) == 0
    assert ledger.capacity(Resources(1000, 0, {"gpu": 1})) == 0
    assert ledger.capacity(Resources()) == math.inf


def test_emptied_it_is_as_if_nothing_ran_and_the_accounts_stay() -> None:
    full = node("a", devices={"gpu": 1}, foreign=Resources(1000, GIB, {"gpu": 1}))
    accounts = ledger(full, active=(started(queued("r"), "a"),))
    empty = accounts.without_services()
    assert (empty.free(0), empty.free_cores_in_all, empty.services) == (full.total, 8000, [0])
    assert (accounts.free_cores_in_all, accounts.services) == (6000, [1])


def test_capacity_counts_what_is_taken_and_no_node_that_is_overdrawn() -> None:
    running = started(queued("r", component(cores=3)), "a")
    ledger = Ledger((node("a", cores=4), node("b", cores=4)), (running,))
    assert ledger.capacity(Resources(1000)) == 5
    ledger.take(0, Resources(2000))
    assert ledger.capacity(Resources(1000)) == 4
    assert ledger.free_cores_in_all == 4000
