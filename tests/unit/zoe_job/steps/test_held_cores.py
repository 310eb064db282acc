"""Which cores steps hold."""

from __future__ import annotations

import threading

import pytest

from zoe_job.steps.held_cores import TASKS_MAX, Ledger, Requirements, place


@pytest.mark.parametrize(
    ("wanted", "free", "expected"),
    [
        (Requirements(4), [2, 2], [2, 2]),
        (Requirements(3), [2, 2], [2, 1]),
        (Requirements(1), [0, 2], [0, 1]),
        (Requirements(2, cores=2), [4, 3], [1, 1]),
        (Requirements(2, nodes=1), [1, 2, 2], [0, 2, 0]),
        (Requirements(5), [2, 2], None),
        (Requirements(2, nodes=2), [2, 0], None),
        (Requirements(2, nodes=2), [2], None),
        (Requirements(4, per_node=1), [8, 8], None),
        (Requirements(2, nodes=2, per_node=1), [8, 8], [1, 1]),
        (Requirements(1, named=[1]), [8, 8], [0, 1]),
        (Requirements(4, named=[2, 0]), [8, 8, 8], [2, 0, 2]),
        (Requirements(3, nodes=2, named=[2]), [8, 8, 8], [2, 0, 1]),
        (Requirements(1, named=[1]), [8, 0], None),
        (Requirements(4, excluded=[0]), [8, 2, 2], [0, 2, 2]),
        (Requirements(1, excluded=[0, 1]), [8, 8], None),
    ],
)
def test_tasks_are_spread_over_the_nodes_that_have_room(
    wanted: Requirements, free: list[int], expected: list[int] | None
) -> None:
    assert place(wanted, free) == expected


def test_a_step_waits_until_another_gives_its_cores_back() -> None:
    ledger, first = Ledger([2]), [Requirements(2)]
    taken = ledger.take(first)
    assert taken == (0, [[2]])
    assert ledger.take([Requirements(1)], lambda: True) is None
    assert ledger.take([Requirements(1, overlap=True)]) == (1, [[1]])
    threading.Timer(0.05, ledger.give_back, (first, [[2]])).start()
    assert ledger.take([Requirements(2)]) == (2, [[2]])


def test_parts_of_a_step_get_their_cores_together_and_apart() -> None:
    ledger = Ledger([2, 3, 3])
    wanted = [Requirements(2, excluded=[1, 2]), Requirements(2, cores=3, excluded=[0])]
    assert ledger.take(wanted) == (0, [[2, 0, 0], [0, 1, 1]])
    assert ledger.take([Requirements(1)], lambda: True) is None
    ledger.give_back(wanted, [[2, 0, 0], [0, 1, 1]])
    # Each on nodes of its own, as long as there are some.
    assert ledger.take([Requirements(1), Requirements(1)]) == (1, [[0, 1, 0], [0, 0, 1]])
    assert Ledger([2]).take([Requirements(1), Requirements(1)]) == (0, [[1], [1]])
    # Two programs of one step are not given more cores than there are.
    with pytest.raises(ValueError, match="job"):
        Ledger([2]).take([Requirements(2), Requirements(1)])


@pytest.mark.parametrize(
    "wanted",
    [Requirements(3), Requirements(1, cores=3), Requirements(0), Requirements(TASKS_MAX + 1), Requirements(2, nodes=2)],
)
def test_step_larger_than_the_job_is_refused_at_once(wanted: Requirements) -> None:
    with pytest.raises(ValueError, match=r"step|job"):
        Ledger([2]).take([wanted])
