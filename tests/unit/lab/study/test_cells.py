from __future__ import annotations

from collections import Counter

from lab.study.cells import FAMILIES, PARTS, SIGMAS, STUDIED_ORDERS, Cell, cells
from lab.study.one_run import SHARED, run_cell, workload_of
from lab.study.places_cells import PlacesCell, places_cells
from lab.study.sharing_cells import SharingCell, sharing_cells
from zoe_lib.domain.cluster import policy
from zoe_lib.domain.cluster.policy import problems


def test_every_order_is_run_in_every_family_and_with_every_error_that_it_can_notice() -> None:
    there = {(cell.order, cell.family, cell.sigma) for cell in cells(1) if cell.part == "orders"}
    assert {(order, family) for order, family, _ in there} == {(o, f) for o in STUDIED_ORDERS for f in FAMILIES}
    for order in ("sjf", "size", "srpt", "hrrn"):
        assert {sigma for text, _, sigma in there if text == order} == set(SIGMAS)


def test_cells_are_all_different_and_every_seed_has_the_same() -> None:
    every = list(cells(3))
    assert max(Counter(every).values()) == 1
    assert {cell.part for cell in every} == set(PARTS)
    assert Counter(cell.seed for cell in every) == dict.fromkeys(range(3), len(every) // 3)


def test_a_cell_is_read_as_it_was_written_and_its_policy_can_be_put_in_force() -> None:
    for cell in cells(1):
        assert Cell.from_row(dict(zip(Cell.names(), cell.key(), strict=True))) == cell
        assert problems(cell.policy) == []


def test_every_rule_of_sharing_is_run_where_cores_wait() -> None:
    every = list(sharing_cells(2))
    assert {(cell.policy.tenants, cell.policy.interactive_share > 0) for cell in every} == {
        (tenants, precedence) for tenants in policy.TENANCIES for precedence in (False, True)
    }
    for cell in every:
        assert SharingCell.from_row(dict(zip(SharingCell.names(), cell.key(), strict=True))) == cell
        assert problems(cell.policy) == []


def test_of_sharing_it_is_told_how_interactive_ones_and_small_tenants_fare() -> None:
    """Turns of tenants help the small ones, on the same workload, which every rule has."""
    none, drf = (next(c for c in sharing_cells(1) if c.family == "rigid" and c.tenants == t) for t in ("none", "drf"))
    assert workload_of(none, 200) == workload_of(drf, 200)
    assert {arrival.interactive for arrival in workload_of(none, 200)} == {True, False}
    told, told_with_turns = run_cell(none, 200), run_cell(drf, 200)
    assert set(SHARED) <= told.keys()
    assert told_with_turns["others_bounded_slowdown"] < told["others_bounded_slowdown"]


def test_placement_by_places_takes_bytes_off_the_network() -> None:
    """On the same workload and the same places; the rest of the policy is the default."""
    every = list(places_cells(1))
    for cell in every:
        assert PlacesCell.from_row(dict(zip(PlacesCell.names(), cell.key(), strict=True))) == cell
        assert problems(cell.policy) == []
    assert policy.Policy() in [cell.policy for cell in every]
    without, with_it = (next(c for c in every if c.family == "flexible" and c.weight == w) for w in (0.0, 0.05))
    told, told_with_it = run_cell(without, 20), run_cell(with_it, 20)
    assert told_with_it["network_share"] < 0.8 * told["network_share"]
    assert 0.8 < told["network_share"] < 0.9  # three of twenty machines have any object
