"""When a demo takes its execution for stuck."""

from __future__ import annotations

import pytest

from zoe_embedded.demos.movement import WORKING_CORES, Movement, Signs

READY = ("running", "s1 ready")


def signs(states: tuple[str, ...] = READY, output: int = 0, cpu_s: float = 0.0) -> Signs:
    return Signs(states, {"s1": output}, {"s1": cpu_s})


def test_stall_counts_from_the_last_move() -> None:
    movement = Movement(0.0)
    assert movement.stalled_s(0.0, signs()) == 0
    assert movement.stalled_s(5.0, signs()) == 5
    assert movement.stalled_s(400.0, signs()) == 400


@pytest.mark.parametrize(
    "moved",
    [signs(("running", "s1 ended")), signs(output=1), signs(cpu_s=10 * WORKING_CORES + 0.1)],
    ids=["a state", "output", "processor"],
)
def test_each_sign_of_work_begins_the_time_again(moved: Signs) -> None:
    movement = Movement(0.0)
    movement.stalled_s(0.0, signs())
    movement.stalled_s(290.0, signs())
    assert movement.stalled_s(300.0, moved) == 0
    assert movement.stalled_s(310.0, moved) == 10


def test_the_idling_of_java_is_no_work() -> None:
    movement = Movement(0.0)
    movement.stalled_s(0.0, signs())
    for look in range(1, 61):
        stalled_s = movement.stalled_s(5.0 * look, signs(cpu_s=0.05 * 5 * look))
    assert stalled_s == 300


def test_output_is_read_on_from_the_last_look() -> None:
    movement = Movement(0.0)
    movement.stalled_s(0.0, signs(output=7))
    assert movement.last_signs.output_ends == {"s1": 7}
