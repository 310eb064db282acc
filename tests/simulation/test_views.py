"""Inputs with a pushdown: decided once before anything starts, kept while they are read, gone with the execution."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import StorageRefusedError, StorageUnavailableError, View, ViewSample
from storage_bridge.simulated import SimulatedController
from tests.simulation.test_storage import CAPACITY, MB, Fading, kinds
from tests.simulation.world import World, application, component, node
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import ACTIVE_STATES, Cause, Execution, ExecutionState, Mark, ServiceState
from zoe_lib.domain.values.storage import (
    Bandwidth,
    CsvInput,
    Guarantee,
    InputRead,
    Pushdown,
    StorageDemand,
    StorageObject,
)
from zoe_lib.store.values import JournalEntry
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.state.crash_points import CrashPoint
from zoe_master.storage.view_reconciler import InputViews

WANTED = Pushdown(("id", "kwh"), "city = 'Nice'")
METERS = StorageObject("meters", "swift2d://meters.zoe/2015", WANTED)
PLAIN = StorageObject("cities", "swift2d://cities.zoe/all")


def reader(*inputs: StorageObject, required: int = 0, **more: object) -> Application:
    bandwidth = Bandwidth(required * MB, None, Guarantee.REQUIRED) if required else None
    storage = StorageDemand(inputs=inputs or (METERS, PLAIN), bandwidth=bandwidth)
    return application(component("c", 1, 1), storage=storage, **more)


def world(controller: SimulatedController | None = None, **more: object) -> World:
    return World([node("n1"), node("n2")], controller=controller, **more)  # type: ignore[arg-type]


def there(one: World) -> list[View]:
    assert isinstance(one.controller, SimulatedController)
    down, one.controller.down = one.controller.down, False
    found = list(one.controller.views())
    one.controller.down = down
    return found


def decided(one: World, execution_id: str) -> InputRead:
    [read] = one.get(execution_id).inputs
    return read


def test_a_view_is_there_before_anything_starts_and_gone_at_the_end() -> None:
    one = world(SimulatedController(CAPACITY))
    execution_id = one.submit(reader())
    one.tick()
    [view] = there(one)
    assert view == View(f"{execution_id}-1-meters", "default", METERS.uri, ("id", "kwh", "city"), "city = 'Nice'")
    told = kinds(one, execution_id)
    assert told.index("start_planned") < told.index("inputs_decided") < told.index("service_starting")
    read = decided(one, execution_id)
    assert (read.uri, read.columns) == (f"swift2d://zoe-view-{view.id}.zoe/data", ("id", "kwh", "city"))
    assert read.why.startswith("through a view")
    one.run(60.0)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED
    assert there(one) == []


def test_one_that_would_not_pay_is_not_kept_and_the_job_reads_the_plain_objects() -> None:
    controller = SimulatedController(CAPACITY)
    controller.sampled = ViewSample(10 * MB, 10 * MB, 9 * MB, 10 * MB, 0.1, 1.0)
    one = world(controller)
    execution_id = one.submit(reader())
    one.tick()
    one.tick()
    read = decided(one, execution_id)
    assert (read.uri, read.view, read.columns) == (METERS.uri, "", ())
    assert "would not save time" in read.why
    assert there(one) == []
    assert one.state(execution_id) is not ExecutionState.QUEUED
    one.run(60.0)
    assert kinds(one, execution_id).count("inputs_decided") == 1


class Refusing(SimulatedController):
    """Makes no views, and says why."""

    def create_view(self, view: View) -> None:
        raise StorageRefusedError("there is no column kwh")


def test_refused_view_has_the_reason_and_other_inputs_keep_theirs() -> None:
    one = world(Refusing(CAPACITY))
    files = StorageObject("files", "file://{workspace}/meters", WANTED)
    execution_id = one.submit(reader(METERS, files))
    one.tick()
    why = {read.name: (read.view, read.why) for read in one.get(execution_id).inputs}
    assert why == {
        "meters": ("", "plainly: there is no view (there is no column kwh)"),
        "files": ("", "plainly: only swift2d:// inputs can be read through views"),
    }


def test_of_a_service_that_does_not_exist_there_is_no_view_and_the_reason_names_it() -> None:
    one = world(SimulatedController(CAPACITY))
    known = one.get(one.submit(reader()))
    views = InputViews(("swift2d",), {"other"})
    assert views.views_for(known) == {}
    [read] = views.ways_to_read(known, {}, "no reason")
    assert read.why == "plainly: this installation has no object-store service zoe"


@pytest.mark.parametrize(("cause", "view"), [(Cause.EXITED, False), (Cause.NODE_LOST, True)])
def test_a_try_after_one_that_failed_reads_plainly_and_says_so(cause: Cause, view: bool) -> None:
    """A view is never worse than plain objects for longer than a try; what the platform did wrong is not its fault."""

    def behave(start: ServiceStart) -> ServiceBehaviour:
        bad = ServiceBehaviour(run_s=5.0, exit_code=1 if cause is Cause.EXITED else None, cause=cause)
        return bad if start.attempt == 1 else ServiceBehaviour(run_s=5.0)

    one = world(SimulatedController(CAPACITY), behave=behave)
    execution_id = one.submit(reader(retries=1))
    one.tick()
    assert decided(one, execution_id).view
    one.run(600.0)
    entries = [
        entry for entry in one.store.journal(0, 1000, execution_id=execution_id) if entry.kind == "inputs_decided"
    ]
    first, second = (entry.data["inputs"][0] for entry in entries)  # type: ignore[index]
    assert first["view"]
    assert bool(second["view"]) is view
    assert ("an earlier attempt failed, possibly because of a view" in second["why"]) is not view
    assert one.state(execution_id) is ExecutionState.SUCCEEDED
    assert there(one) == []


def plain_only(start: ServiceStart) -> ServiceBehaviour:
    """A program that fails where it reads through a view."""
    return ServiceBehaviour(run_s=5.0, exit_code=1 if start.storage.inputs["meters"].view else 0)


def test_a_job_without_retries_that_fails_through_a_view_has_one_plain_try_that_is_not_charged() -> None:
    one = world(SimulatedController(CAPACITY), behave=plain_only)
    execution_id = one.submit(reader(retries=0))
    one.run(600.0)
    execution = one.get(execution_id)
    assert (execution.state, execution.attempt, execution.failed_attempts) == (ExecutionState.SUCCEEDED, 2, 0)
    assert decided(one, execution_id).why == (
        "plainly: an earlier attempt failed, possibly because of a view; "
        "that attempt does not count as one of its retries"
    )
    assert [entry.data["plainly"] for entry in requeued(one, execution_id)] == [True]
    assert execution.marks[Mark.VIEW_FAILED] < execution.marks[Mark.PLACED]
    assert there(one) == []


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_failed_view_gives_one_more_attempt(retries: int) -> None:
    one = world(SimulatedController(CAPACITY), behave=lambda _: ServiceBehaviour(run_s=1.0, exit_code=3))
    through, plainly = one.submit(reader(retries=retries)), one.submit(reader(PLAIN, retries=retries))
    one.run(7200.0)
    tries = {one.get(e).attempt for e in (through,)}, {one.get(e).attempt for e in (plainly,)}
    assert tries == ({retries + 2}, {retries + 1})
    assert {one.state(e) for e in (through, plainly)} == {ExecutionState.FAILED}
    assert [entry.data["plainly"] for entry in requeued(one, through)] == [True] + [False] * retries


def test_platform_failures_do_not_use_up_the_plain_attempt() -> None:
    """Two tries that the platform ended, one that failed through a view, then the platform's again until its bound."""

    def behave(start: ServiceStart) -> ServiceBehaviour:
        fault = ServiceBehaviour(run_s=1.0, exit_code=None, cause=Cause.ENGINE_FAULT)
        return ServiceBehaviour(run_s=1.0, exit_code=1) if start.attempt == 3 else fault

    one = world(SimulatedController(CAPACITY), behave=behave)
    execution_id = one.submit(reader(retries=0))
    one.run(7200.0)
    execution, policy = one.get(execution_id), one.store.policy()
    assert execution.state is ExecutionState.FAILED
    assert [entry.data["plainly"] for entry in requeued(one, execution_id)].count(True) == 1
    assert execution.attempt == policy.start_attempts_max + 1


def test_a_program_that_never_began_has_no_view_to_blame() -> None:
    broken = ServiceBehaviour(fails=Cause.START_FAILED)
    one = world(SimulatedController(CAPACITY), behave=lambda _: broken)
    execution_id = one.submit(reader(retries=0))
    one.run(600.0)
    assert (one.state(execution_id), one.get(execution_id).attempt) == (ExecutionState.FAILED, 1)


def requeued(one: World, execution_id: str) -> list[JournalEntry]:
    return [entry for entry in one.store.journal(0, 1000, execution_id=execution_id) if entry.kind == "requeued"]


def test_an_input_of_records_of_several_lines_has_no_view_and_says_why() -> None:
    one = world(SimulatedController(CAPACITY))
    execution_id = one.submit(reader(replace(METERS, csv=CsvInput(multi_line=True))))
    one.tick()
    assert "records of several lines" in decided(one, execution_id).why
    assert there(one) == []


def test_without_a_controller_jobs_read_the_plain_objects() -> None:
    one = world()
    execution_id = one.submit(reader())
    one.run(60.0)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED
    assert not decided(one, execution_id).unanswered
    assert (
        "no storage controller is configured"
        in one.store.journal(0, 1000, execution_id=execution_id)[3].data["inputs"][0]["why"]
    )  # type: ignore[index]


@pytest.mark.parametrize("away_s", [1.0, 25.0])
def test_a_controller_that_is_away_for_a_moment_costs_no_view(away_s: float) -> None:
    """As one that starts at the same time as the master does."""
    controller = SimulatedController(CAPACITY)
    controller.down = True
    one = world(controller)
    execution_id = one.submit(reader())
    one.run(away_s)
    assert not one.get(execution_id).inputs
    assert {s.state for s in one.get(execution_id).services} == {ServiceState.CREATED}
    controller.down = False
    one.run(2.0)
    assert decided(one, execution_id).view
    assert not decided(one, execution_id).unanswered


def test_a_controller_that_stays_away_costs_the_view_after_a_bound_and_later_executions_no_time() -> None:
    controller = SimulatedController(CAPACITY)
    controller.down = True
    one = world(controller)
    first = one.submit(reader())
    one.run(29.0)
    assert not one.get(first).inputs
    one.run(2.0)
    read = decided(one, first)
    assert (read.why, read.unanswered) == ("plainly: the storage controller cannot be reached", True)
    later = one.submit(reader())
    one.tick()
    assert decided(one, later) == read
    one.run(20.0)
    assert {one.state(e) for e in (first, later)} == {ExecutionState.SUCCEEDED}
    controller.down = False
    one.tick()
    controller.down = True
    again = one.submit(reader())
    one.tick()
    assert not one.get(again).inputs, "it has just answered"


class Reluctant(SimulatedController):
    """Makes no view the first times that it is asked for one."""

    failures = 3

    def create_view(self, view: View) -> None:
        if self.failures:
            self.failures -= 1
            raise StorageUnavailableError("the storage controller does not answer: ReadTimeout")
        super().create_view(view)


def test_a_view_that_cannot_be_made_at_once_is_tried_again() -> None:
    controller = Reluctant(CAPACITY)
    one = world(controller)
    execution_id = one.submit(reader())
    one.tick()
    assert not one.get(execution_id).inputs
    one.run(5.0)
    assert decided(one, execution_id).view
    assert [view.id for view in there(one)] == [decided(one, execution_id).view]


def test_one_whose_view_is_never_made_says_what_was_answered() -> None:
    controller = Reluctant(CAPACITY)
    controller.failures = 1000
    one = world(controller)
    execution_id = one.submit(reader())
    one.run(31.0)
    read = decided(one, execution_id)
    assert read.why == (
        "plainly: the storage controller made no view within 30 s: the storage controller does not answer: ReadTimeout"
    )
    assert read.unanswered
    assert there(one) == []


class Slow(SimulatedController):
    """Views are never made while `slow` is set: each look at them fails."""

    slow = True

    def views(self) -> list[View]:
        if self.slow:
            raise StorageUnavailableError("it takes its time")
        return list(super().views())


def test_one_that_takes_too_long_costs_the_view_after_a_bound() -> None:
    one = world(Slow(CAPACITY))
    execution_id = one.submit(reader())
    one.run(29.0)
    assert {s.state for s in one.get(execution_id).services} == {ServiceState.CREATED}
    one.run(2.0)
    read = decided(one, execution_id)
    assert (read.why, read.unanswered) == ("plainly: the storage controller made no view within 30 s", True)
    one.run(30.0)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED


def test_one_whose_bandwidth_is_never_put_in_force_goes_back_to_the_queue_and_gives_its_nodes_to_others() -> None:
    controller = Fading(CAPACITY)
    controller.refuse_slos = True
    one = World([node("n1", cores=1)], controller=controller)
    waits = one.submit(reader(required=50))
    one.tick()
    other = one.submit(application(component("c", 1, 1)))
    one.run(29.0)
    assert (one.state(waits), one.state(other)) == (ExecutionState.STARTING, ExecutionState.QUEUED)
    one.run(2.0)
    assert one.state(waits) is ExecutionState.QUEUED
    entries = [entry for entry in one.store.journal(0, 1000, execution_id=waits) if entry.kind == "stopping"]
    assert entries[0].data["cause"] == Cause.STORAGE_UNAVAILABLE
    assert "did not guarantee the required bandwidth" in str(entries[0].data["message"])
    assert there(one) == []
    one.run(60.0)
    assert one.state(other) is ExecutionState.SUCCEEDED
    controller.refuse_slos = False
    one.run(600.0)
    execution = one.get(waits)
    assert execution.state is ExecutionState.SUCCEEDED
    assert execution.failed_attempts == 0


def test_a_view_that_somebody_removed_is_made_again_and_a_stranger_is_removed() -> None:
    controller = SimulatedController(CAPACITY)
    one = world(controller, behave=lambda _: ServiceBehaviour(run_s=100.0))
    one.submit(reader())
    one.run(5.0)
    [view] = there(one)
    controller.drop_view(view.id)
    controller.create_view(replace(view, id="left-behind"))
    one.tick()
    assert there(one) == [view]


class Keeps(SimulatedController):
    """Cannot remove some views."""

    kept: frozenset[str] = frozenset()

    def drop_view(self, view_id: str) -> None:
        if view_id in self.kept:
            raise StorageUnavailableError("Swift answers 409 to the removal of a view")
        super().drop_view(view_id)


def test_one_that_cannot_be_removed_holds_up_no_other() -> None:
    controller = Keeps(CAPACITY)
    one = world(controller, behave=lambda _: ServiceBehaviour(run_s=20.0))
    controller.create_view(View("a-stuck", "other", METERS.uri))
    controller.kept = frozenset({"a-stuck"})
    execution_id = one.submit(reader())
    one.run(5.0)
    assert one.state(execution_id) is ExecutionState.RUNNING
    assert decided(one, execution_id).why.startswith("through a view")
    one.run(60.0)
    assert [view.id for view in there(one)] == ["a-stuck"]
    controller.kept = frozenset()
    one.run(60.0)
    assert there(one) == []


def test_another_try_has_a_view_of_its_own() -> None:
    lost = ServiceBehaviour(run_s=1.0, exit_code=None, cause=Cause.NODE_LOST)
    one = world(SimulatedController(CAPACITY), behave=lambda _: lost)
    execution_id = one.submit(reader(retries=1))
    one.tick()
    assert [view.id for view in there(one)] == [f"{execution_id}-1-meters"]
    one.run(2.0)
    assert one.get(execution_id).attempt == 2
    assert [view.id for view in there(one)] == [f"{execution_id}-2-meters"]
    one.run(60.0)
    assert there(one) == []


@pytest.mark.parametrize("step", list(CrashPoint))
def test_a_master_that_dies_anywhere_leaves_no_view_behind_and_starts_nothing_undecided(step: CrashPoint) -> None:
    one = world(SimulatedController(Capacity(100 * MB, {"disk": 100 * MB})))
    execution_id = one.submit(reader(required=50))
    one.crash_once_at(step)
    one.run(120.0, check_views)
    assert one.state(execution_id) is ExecutionState.SUCCEEDED
    assert there(one) == []
    assert kinds(one, execution_id).count("inputs_decided") == 1


@pytest.mark.parametrize("seed", range(15))
def test_views_are_those_of_what_runs_whatever_dies_when(seed: int) -> None:
    chance = random.Random(seed)
    one = world(
        SimulatedController(CAPACITY), behave=lambda _: ServiceBehaviour(run_s=chance.choice([1.0, 10.0, 30.0]))
    )
    assert isinstance(one.controller, SimulatedController)
    for _ in range(12):
        for _ in range(chance.randint(0, 3)):
            one.submit(reader(required=chance.choice([0, 20, 60]), retries=chance.choice([0, 1])))
        if chance.random() < 0.4:
            one.crash_once_at(chance.choice(list(CrashPoint)), chance.randint(1, 3))
        one.controller.down = chance.random() < 0.2
        one.run(chance.choice([0.0, 5.0, 40.0]), check_views)
    one.controller.down = False
    one.run(7200.0, check_views)
    assert not one.store.active()
    assert there(one) == []


def check_views(one: World) -> None:
    active = [e for e in one.store.active() if e.state in ACTIVE_STATES]
    used = {read.view for e in active if runs(e) for read in e.inputs if read.view}
    assert used <= {view.id for view in there(one)}, "something runs without its view"
    assert all(e.inputs for e in active if runs(e)), "something runs undecided"


def runs(execution: Execution) -> bool:
    return any(s.alive and s.state is not ServiceState.CREATED for s in execution.services)
