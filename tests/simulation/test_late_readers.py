"""A promised reader that is late gets free bandwidth, gives it back, and takes none from others."""

from __future__ import annotations

from tests.simulation.test_promised_readers import MB, Reading, holds, reader
from tests.simulation.test_promised_wholes import ask
from tests.simulation.test_promises import job
from tests.simulation.world import check_invariants
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressReading

IN_S = 135.0
"""A run is promised to take 121 s at half of the store's rate."""


def read_rate(execution: Execution) -> int:
    rates = required_rates(execution.application)
    assert rates is not None
    return rates.read


def late_reader(world: Reading) -> str:
    """It has told for a minute that it advances at four fifths of its pace."""
    world.share = 0.97
    one = world.ask(reader(), in_s=IN_S)
    world.run(62.0, check_invariants)
    assert world.state(one) is ExecutionState.RUNNING
    tells(world, one, 0.0, 0.0, 0.8 / world.terms(one).run_s)
    world.waker.wake()
    world.run(2.0, check_invariants)
    return one


def tells(world: Reading, one: str, from_s: float, done: float, per_s: float) -> None:
    """Have it tell, since so many seconds after it was ready, that it advances by this share a second."""
    began_s, now_s = world.get(one).marks[Mark.READY] + from_s, world.clock.now_s()
    times = [began_s + 2.0 * n for n in range(1, int((now_s - began_s) // 2) + 1)]
    readings = tuple(ProgressReading(at_s, min(done + per_s * (at_s - began_s), 0.99)) for at_s in times)
    world.progress = {one: ExecutionProgress(one, 1, now_s, readings)}


def test_a_late_one_gets_what_nobody_holds_and_gives_it_back_when_it_is_not_late_any_more() -> None:
    world = Reading()
    one = late_reader(world)
    promised, high = world.terms(one).read_bytes_per_s, read_rate(world.get(one))
    assert promised is not None
    assert world.kinds(one).count("promise_adjusted") == 1
    assert high > promised
    assert world.controller is not None
    assert world.controller.slos()["default"].read_bytes_per_s == high, "the store keeps it"
    assert Mark.STORAGE_GRANTED in world.get(one).marks
    waits = world.submit(holds(100 - promised // MB, 50.0))
    world.run(2.0, check_invariants)
    assert world.state(waits) is ExecutionState.QUEUED, "it holds what the other needs"
    adjusted_at_s = world.get(one).promise.adjusted.at_s  # type: ignore[union-attr]
    world.run(22.0, check_invariants)
    tells(world, one, adjusted_at_s - world.get(one).marks[Mark.READY], 0.4, 0.021)
    world.waker.wake()
    world.run(2.0, check_invariants)
    assert read_rate(world.get(one)) == promised
    assert world.kinds(one).count("promise_adjusted") == 2
    world.run(5.0, check_invariants)
    assert world.state(waits) is ExecutionState.RUNNING
    before = world.get(one).promise
    world.restart()
    world.run(5.0, check_invariants)
    assert world.get(one).promise == before, "a new leader knows it"
    world.run(1000.0, check_invariants)
    assert (world.state(one), world.get(one).missed) == (ExecutionState.SUCCEEDED, None)
    assert world.kinds(one).count("promise_adjusted") == 2


def test_a_late_one_gets_no_more_than_others_leave() -> None:
    world = Reading()
    held = world.submit(holds(30, 500.0))
    world.run(1.0, check_invariants)
    one = late_reader(world)
    assert world.state(held) is ExecutionState.RUNNING
    assert read_rate(world.get(one)) == 70 * MB
    world = Reading()
    world.submit(holds(50, 500.0))
    world.run(1.0)
    one = late_reader(world)
    assert world.kinds(one).count("promise_adjusted") == 0
    assert read_rate(world.get(one)) == world.terms(one).read_bytes_per_s


def test_a_late_one_takes_nothing_that_an_older_promise_has_booked() -> None:
    world = Reading()
    world.share = 0.97
    first, older = ask(world, [(job("first", 1, 80.0), []), (reader(), [0])], in_s=270.0)
    world.run(2.0, check_invariants)
    booked = world.terms(older).read_bytes_per_s
    one = late_reader(world)
    assert world.state(older) is ExecutionState.SUBMITTED
    assert read_rate(world.get(one)) <= 100 * MB - (booked or 0)
    world.run(1000.0, check_invariants)
    for promised in (first, older, one):
        assert (world.state(promised), world.get(promised).missed) == (ExecutionState.SUCCEEDED, None)
