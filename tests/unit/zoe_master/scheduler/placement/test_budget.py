"""What-if requests end when their client leaves, and cost in proportion to their placements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.scheduling import component, ledger, node, queued, request, started
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.admission import admit
from zoe_master.scheduler.placement.budget import GiveUp, OutOfBudget, StepCount
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.weighers import WEIGHERS, WEIGHERS_OF_ONE
from zoe_master.scheduler.what_if.dry_run import dry_run
from zoe_master.scheduler.what_if.explain import explain
from zoe_master.scheduler.what_if.forecast import ForecastWait, wait_of
from zoe_master.scheduler.what_if.proposal import propose
from zoe_master.scheduler.what_if.reserved_wait import Reservations

NODES = tuple(node(f"n{i}", cores=16, memory_gib=64) for i in range(20))
BUSY = tuple(
    started(queued(f"b{i}", component("b", cores=8, memory_gib=32), expected_run_s=100.0 + i), f"n{i}")
    for i in range(20)
)
NOW = Snapshot(10.0, NODES, (), BUSY)
LARGE = queued("x", *(component(f"c{i}", cores=0.9, memory_gib=1, essential_count=10) for i in range(20)))


def after(times: int) -> GiveUp:
    """Return False for this number of calls."""
    asked = iter(range(times))
    return lambda _=1, /: next(asked, None) is None


@pytest.mark.parametrize("times", [0, 1, 30, 200])
def test_a_search_that_is_given_up_is_an_answer_without_a_change(times: int) -> None:
    found = propose(NOW, Policy(), LARGE, give_up=after(times))
    whole = propose(NOW, Policy(), LARGE)
    assert whole.change_sought
    assert (found.starts_now, found.change, found.change_sought) == (False, None, False)
    assert (found.reason, found.ahead) == (whole.reason, whole.ahead)


def test_a_search_within_its_budget_says_all() -> None:
    assert propose(NOW, Policy(), LARGE, give_up=after(1_000_000)) == propose(NOW, Policy(), LARGE)


def test_request_of_a_client_that_left_is_given_up() -> None:
    waiting = Snapshot(10.0, NODES, (LARGE,), BUSY)
    asked: tuple[Callable[[GiveUp], object], ...] = (
        lambda left: propose(NOW, Policy(), LARGE, left),
        lambda left: explain(waiting, Policy(), "x", left),
        lambda left: dry_run(waiting, Policy(), left),
        lambda left: schedule(waiting, Policy(), left),
    )
    for ask in asked:
        for times in (0, 5):
            with pytest.raises(OutOfBudget):
                ask(after(times))


def test_an_explanation_whose_search_is_given_up_has_all_else() -> None:
    waiting = Snapshot(10.0, NODES, (LARGE,), BUSY)
    told, whole = explain(waiting, Policy(), "x", give_up=after(3)), explain(waiting, Policy(), "x")
    assert told is not None
    assert whole is not None
    assert (told.reason, told.nodes, told.change) == (whole.reason, whole.nodes, None)


def test_an_explanation_has_so_many_texts_and_no_more() -> None:
    nodes = tuple(node(f"n{i}", cores=1) for i in range(1_100))
    wanted = queued("x", *(component(f"c{i}", cores=2) for i in range(10)))
    told = explain(Snapshot(10.0, nodes, (wanted,)), Policy(), "x", give_up=after(0))
    assert told is not None
    assert sum(map(len, told.nodes.values())) == 9_900


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
def test_a_forecast_that_is_given_up_is_extrapolated(backfill: str) -> None:
    waiting = Snapshot(10.0, NODES, (LARGE,), BUSY)
    policy = Policy(backfill=backfill)  # type: ignore[arg-type]
    assert wait_of(waiting, policy, "x", Estimates({}), after(0)) == ForecastWait(math.inf, extrapolated=True)
    whole = wait_of(waiting, policy, "x", Estimates({}))
    assert whole is not None
    assert whole.seconds < math.inf
    assert wait_of(waiting, policy, "x", Estimates({}), after(10**6)) == whole


def test_reservations_of_a_forecast_end_with_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is extrapolated from the reservations made until then."""
    waiting = tuple(queued(f"w{i:03}", component(cores=9), at_s=float(i), expected_run_s=50.0) for i in range(300))
    made = [0]
    reserve = Reservations.reserve

    def counted(its: Reservations, *wanted: Any) -> float:
        made[0] += 1
        return reserve(its, *wanted)

    monkeypatch.setattr(Reservations, "reserve", counted)
    now, policy = Snapshot(10.0, NODES, waiting, BUSY), Policy(backfill="conservative")
    told = wait_of(now, policy, "w299", Estimates({}), lambda _=1, /: made[0] >= 50)
    assert made[0] == 50
    assert told is not None
    assert told.extrapolated
    assert 0 < told.seconds < math.inf


def test_a_budget_counts_steps_from_when_it_was_made_and_ends_with_its_asker() -> None:
    has_left = [False]
    budget = StepCount(lambda: has_left[0])
    search, forecast = budget.spent_after(5), budget.spent_after(8)
    assert not search(5)
    assert (search(), forecast(), budget.cut_after) == (True, False, 5)
    has_left[0] = True
    assert forecast()


def test_the_same_snapshot_is_cut_at_the_same_place_every_time() -> None:
    def told(steps: int) -> tuple[object, int | None]:
        budget = StepCount()
        return propose(NOW, Policy(), LARGE, budget.spent_after(10_000), budget.spent_after(steps)), budget.cut_after

    assert told(3_000) == told(3_000)
    assert (told(100)[1], told(100_000)[1]) == (100, None)


def test_a_placement_costs_steps_by_its_nodes() -> None:
    taken: list[int] = []

    def count(steps: int = 1, /) -> bool:
        taken.append(steps)
        return False

    nodes = tuple(node(f"n{i:04}", cores=10, memory_gib=64) for i in range(1_600))
    assert isinstance(admit(queued("x", component()), ServicePlacer(ledger(*nodes), Policy(), give_up=count)), tuple)
    assert max(taken) == 102


def test_a_single_node_is_scored_as_among_others() -> None:
    accounts = ledger(*NODES, active=BUSY[:7])
    wanted = request(component())
    for name, of_one in WEIGHERS_OF_ONE.items():
        import numpy as np

        scores = WEIGHERS[name](wanted, np.arange(20), accounts).tolist()
        assert [of_one(i, accounts) for i in range(20)] == scores, name


def test_packing_looks_at_few_nodes_for_each_of_many_services(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core that does not fit by the policy's weighers, on a thousand nodes: not services times nodes."""
    looked = [0]
    fits_in = Resources.fits_in

    def counted(wanted: Resources, free: Resources) -> bool:
        looked[0] += 1
        return fits_in(wanted, free)

    monkeypatch.setattr(Resources, "fits_in", counted)
    parts: list[Component] = [
        component("a", essential_count=5_000),
        component("b", memory_gib=2, essential_count=5_001),
    ]
    nodes = tuple(node(f"n{i:04}", cores=10, memory_gib=64) for i in range(1_000))
    assert not isinstance(admit(queued("x", *parts), ServicePlacer(ledger(*nodes), Policy())), tuple)
    assert 10_000 < looked[0] < 50_000
