"""Bandwidth of the object store, and limits of tenants, are promised for later where others hold them now."""

from __future__ import annotations

import random
from dataclasses import replace

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.simulated import SimulatedController
from tests.simulation.test_promised_wholes import ask
from tests.simulation.test_promises import Promising, job, work_of
from tests.simulation.world import application, check_invariants, component, node
from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import ExecutionState, Mark
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand, StorageObject
from zoe_lib.run_times.values import RunSample, RunSetting
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour

MB = 1_000_000
CAPACITY = Capacity(100 * MB, {"disk": 100 * MB})
BYTES = 6000 * MB


class Reading(Promising):
    """A world with an object store of 100 MB/s, of which promises may hold all, and which knows how long reading
    takes.
    """

    def __init__(self, share: float = 0.9, others_s: float = 100.0) -> None:
        controller = SimulatedController(CAPACITY)
        super().__init__([node("n1"), node("n2")], behave=self._behave, controller=controller)
        self.share, self.others_s = share, others_s
        policy = replace(self.store.policy(), promise_share=1.0)
        self.store.set_policy(policy, 0, self.clock.now_s(), "test")
        kind = "default", "ada", reader().program
        for number in range(24):
            rate = (10.0, 20.0, 40.0, 80.0)[number % 4] * MB
            sample = RunSample(RunSetting(1.0, BYTES, rate, rate), 1.0, BYTES / rate, 0.05)
            self.master.run_times._times.learn(str(number), kind, sample)

    def _behave(self, start: ServiceStart) -> ServiceBehaviour:
        promise = self.get(start.execution_id).promise
        return ServiceBehaviour(run_s=self.share * promise.terms.run_s if promise is not None else self.others_s)


def reader() -> Application:
    demand = StorageDemand(inputs=(StorageObject("in", "swift2d://c.zoe/in"),))
    return Application(
        "reader", (component("main", 1, 1, cores=1, ends_application=True, command=("read",)),), storage=demand
    )


def holds(megabytes: int, run_s: float = 100.0) -> Application:
    demand = StorageDemand(bandwidth=Bandwidth(megabytes * MB, None, Guarantee.REQUIRED))
    return application(component("c", 1, 1, cores=1), storage=demand, expected_run_s=run_s)


def test_bandwidth_held_by_others_is_promised_for_later() -> None:
    world = Reading()
    world.submit(holds(100, 200.0))
    world.run(1.0)
    late = world.ask(reader(), in_s=1500.0)
    soon = world.ask(reader(), in_s=120.0)
    world.run(5.0, check_invariants)
    terms = world.terms(late)
    assert terms.read_bytes_per_s
    assert terms.begin_by_s >= 1200.0
    offers = world.get(soon).offers
    assert offers is not None
    assert offers.offers[0].kind is OfferKind.EARLIEST
    assert offers.offers[0].terms.begin_by_s >= 1200.0
    world.accept(soon, 1)
    world.run(2500.0, check_invariants)
    assert [world.state(text) for text in (late, soon)] == [ExecutionState.SUCCEEDED] * 2
    assert [world.get(text).missed for text in (late, soon)] == [None] * 2


def test_bandwidth_that_is_booked_for_later_is_used_until_then_by_what_ends_before() -> None:
    world = Reading()
    world.submit(holds(100, 100.0))
    world.run(1.0)
    promised = world.ask(reader(), in_s=1000.0)
    world.run(1.0)
    begins_s = world.terms(promised).begin_by_s
    assert begins_s > 1500.0
    # Both need all of it: one is expected to end before, the other is not.
    short, long = world.submit(holds(100, 100.0)), world.submit(holds(100, 2000.0))
    world.run(150.0, check_invariants)
    assert world.state(short) in (ExecutionState.RUNNING, ExecutionState.SUCCEEDED)
    assert world.state(long) is ExecutionState.QUEUED
    world.run(3000.0, check_invariants)
    assert (world.state(promised), world.get(promised).missed) == (ExecutionState.SUCCEEDED, None)
    assert world.state(long) is ExecutionState.SUCCEEDED


def test_readers_that_are_all_late_begin_one_after_the_other() -> None:
    """Another execution has held the whole store for far longer than expected. The rates that were booked for one after
    the other are more than the store has: none of them may wait for those behind it.
    """
    world = Reading(others_s=5000.0)
    world.submit(holds(100, 100.0))
    world.run(1.0)
    asked = [world.ask(reader(), in_s=seconds) for seconds in (320.0, 480.0, 640.0)]
    world.run(5.0)
    rates = [world.terms(text).read_bytes_per_s or 0 for text in asked]
    assert sum(rates) > 100 * MB
    world.run(8000.0, check_invariants)
    assert [world.state(text) for text in asked] == [ExecutionState.SUCCEEDED] * 3
    placed = [world.get(text).marks[Mark.PLACED] for text in asked]
    assert placed == sorted(placed)


def test_promises_of_random_readers_are_kept_beside_others_and_hold_no_more_than_there_is() -> None:
    kept = later = 0
    for seed in range(10):
        chance, world = random.Random(seed), Reading()
        asked: list[str] = []
        for _ in range(14):
            if chance.random() < 0.5:
                world.submit(holds(chance.choice([20, 50, 100]), 100.0))
            else:
                asked.append(world.ask(reader(), in_s=chance.choice([150.0, 400.0, 900.0, 2500.0])))
            world.run(chance.uniform(1.0, 60.0), check_invariants)
        world.run(6000.0, check_invariants)
        for execution in map(world.get, asked):
            if execution.promise is not None:
                kept += 1
                assert (execution.state, execution.missed) == (ExecutionState.SUCCEEDED, None), (
                    f"seed {seed}: {execution.id}"
                )
                rates = required_rates(execution.application)
                assert rates is not None
                later += execution.promise.terms.begin_by_s > execution.submitted_at_s + 60.0
    assert kept > 15
    assert later > 5


def test_room_held_by_the_same_tenant_is_promised_for_later() -> None:
    world = work_of({"full": 300.0, "job": 50.0})
    policy = replace(world.store.policy(), tenant_limits={"default": {"cores_milli": 8000}})
    world.store.set_policy(policy, 0, world.clock.now_s(), "test")
    world.submit(job("full", 8, 200.0))
    world.run(1.0)
    soon, late = world.ask(job("job", 4, 50.0), in_s=100.0), world.ask(job("job", 4, 50.0), in_s=1000.0)
    world.run(2.0, check_invariants)
    offers = world.get(soon).offers
    assert offers is not None
    assert offers.offers[0].terms.begin_by_s >= 1300.0, "one and a half times the other's expected time"
    world.accept(soon, 1)
    world.run(2000.0, check_invariants)
    assert [world.get(text).missed for text in (soon, late)] == [None] * 2
    assert [world.state(text) for text in (soon, late)] == [ExecutionState.SUCCEEDED] * 2


def test_later_work_of_its_tenant_does_not_take_the_limit_of_a_promise() -> None:
    """The second step needs all of the limit, and is not in the queue before the first has ended."""
    world = work_of({"first": 100.0, "second": 50.0, "long": 900.0, "short": 50.0})
    policy = replace(world.store.policy(), tenant_limits={"default": {"cores_milli": 8000}})
    world.store.set_policy(policy, 0, world.clock.now_s(), "test")
    promised = ask(world, [(job("first", 2, 100.0), []), (job("second", 8, 50.0), [0])], in_s=600.0)
    world.run(2.0)
    begins_s = world.terms(promised[1]).begin_by_s
    long, short = world.submit(job("long", 2, 900.0)), world.submit(job("short", 2, 50.0))
    world.run(5.0, check_invariants)
    assert world.state(short) is ExecutionState.RUNNING
    assert world.state(long) is ExecutionState.QUEUED
    reason = world.get(long).reason
    assert reason is not None
    assert reason.code is ReasonCode.BOOKED
    world.run(2500.0, check_invariants)
    assert world.get(promised[1]).marks[Mark.PLACED] <= begins_s + 1.0
    assert [world.state(text) for text in (*promised, long)] == [ExecutionState.SUCCEEDED] * 3
    assert [world.get(text).missed for text in promised] == [None] * 2
