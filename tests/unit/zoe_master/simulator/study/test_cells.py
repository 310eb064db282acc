from __future__ import annotations

from collections import Counter

from zoe_lib.domain.policy import problems
from zoe_master.simulator.study.cells import FAMILIES, PARTS, SIGMAS, STUDIED_ORDERS, Cell, cells


def test_every_order_is_run_in_every_family_and_with_every_error_that_it_can_notice() -> None:
    there = {(cell.order, cell.family, cell.sigma) for cell in cells(1) if cell.part == "orders"}
    assert {(order, family) for order, family, _ in there} == {(o, f) for o in STUDIED_ORDERS for f in FAMILIES}
    for order in ("sjf", "size", "srpt", "hrrn"):
        assert {sigma for one, _, sigma in there if one == order} == set(SIGMAS)


def test_cells_are_all_different_and_every_seed_has_the_same() -> None:
    every = list(cells(3))
    assert max(Counter(every).values()) == 1
    assert {cell.part for cell in every} == set(PARTS)
    assert Counter(cell.seed for cell in every) == dict.fromkeys(range(3), len(every) // 3)


def test_a_cell_is_read_as_it_was_written_and_its_policy_can_be_put_in_force() -> None:
    for cell in cells(1):
        assert Cell.of(dict(zip(Cell.names(), cell.key(), strict=True))) == cell
        assert problems(cell.policy) == []
