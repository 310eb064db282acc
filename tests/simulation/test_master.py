"""The whole master over simulated time: what users see, with crashes at any point."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.simulation.world import (
    World,
    application,
    check_invariants,
    component,
    node,
    random_application,
    random_behaviour,
)
from tests.support.limits import user_limit
from tests.support.scheduling import FIFO, GIB, queued, started
from zoe_client.vocabulary import DependencyKind
from zoe_lib.domain.applications.application import ApplicationKind, RetryRule
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark, Outcome, Service, ServiceState
from zoe_lib.domain.lifecycle.consequences import next_event
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.backends.base import BackendError, ImageState, ImageStatus, ServiceStart
from zoe_master.backends.simulated import (
    BackendForgetsStarts,
    BackendRefusesStarts,
    BackendUnreachable,
    ServiceBehaviour,
    SimulatedBackend,
)
from zoe_master.loop import observer
from zoe_master.loop.observer import news
from zoe_master.state.crash_points import CrashPoint


def test_a_batch_application_runs_to_its_end() -> None:
    world = World([node("n1")])
    execution_id = world.submit(application(component("job", 1, 1)))
    world.tick()
    assert world.state(execution_id) is ExecutionState.STARTING
    world.tick()
    assert world.state(execution_id) is ExecutionState.RUNNING
    world.run(30.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state, execution.exit_code) == (ExecutionState.SUCCEEDED, 0)
    assert list(execution.marks) == [
        Mark.QUEUED,
        Mark.ADMITTED,
        Mark.PLACED,
        Mark.STARTED,
        Mark.READY,
        Mark.ENDED,
    ]


def test_a_start_is_written_at_once_with_the_services_whose_turn_it_is() -> None:
    """One transaction for each: a placed service is to be handed over, also after a crash."""
    world = World([node("n1")], behave=lambda _: ServiceBehaviour(run_s=100.0))
    for _ in range(2):
        world.submit(application(component("m", 1, 2), component("w", 1, 1, startup_order=1)))
    world.tick()
    kinds = [entry.kind for entry in world.store.journal(0, 1000) if entry.kind.endswith(("planned", "starting"))]
    assert kinds == ["start_planned", "service_starting", "service_starting"] * 2
    assert len(world.backend.observe()) == 4


def test_only_what_is_to_start_or_stop_is_driven() -> None:
    world = World([node("n1", cores=2)], behave=lambda _: ServiceBehaviour(start_s=1.0, run_s=100.0, stop_s=1.0))
    execution_id = world.submit(application(component("m", 1, 4)))

    def moving() -> list[str]:
        return [execution.id for execution in world.master.cache.moving()]

    world.tick()
    assert moving() == [execution_id]
    world.run(5.0)
    assert world.state(execution_id) is ExecutionState.RUNNING
    assert moving() == [], "two elastic services without a node wait for one, and are not to be started"
    world.cancel(execution_id)
    world.tick()
    assert moving() == [execution_id]
    world.run(5.0)
    assert moving() == []


def test_the_core_starts_all_or_nothing_and_elastic_takes_what_is_left() -> None:
    world = World([node("n1", cores=4)], behave=lambda _: ServiceBehaviour(run_s=100.0))
    world.store.set_policy(FIFO, 0, world.clock.now_s(), "admin")
    first = world.submit(application(component("core", 2, 5)))
    second = world.submit(application(component("core", 3, 3)))
    world.run(1.0, check_invariants)
    assert sum(s.node is not None for s in world.get(first).services) == 4
    assert world.state(second) is ExecutionState.QUEUED
    reason = world.get(second).reason
    assert reason is not None
    assert reason.code is ReasonCode.NO_RESOURCES
    assert reason.counts == {"resources": 1}


def test_fifo_lets_nobody_pass_and_says_so() -> None:
    world = World([node("n1", cores=4)], behave=lambda _: ServiceBehaviour(run_s=100.0))
    world.store.set_policy(FIFO, 0, world.clock.now_s(), "admin")
    world.submit(application(component("a", 3, 3)))
    blocked = world.submit(application(component("b", 2, 2)))
    small = world.submit(application(component("c", 1, 1)))
    world.run(1.0, check_invariants)
    assert world.state(blocked) is ExecutionState.QUEUED
    reason = world.get(small).reason
    assert reason is not None
    assert reason.code is ReasonCode.BEHIND_IN_QUEUE


def test_a_core_that_waits_takes_elastic_services_back_and_they_return_later() -> None:
    world = World(
        [node("n1", cores=6)], behave=lambda s: ServiceBehaviour(run_s=50.0 if s.execution_id == "e00002" else 500.0)
    )
    hog = world.submit(application(component("hog", 1, 6)))
    world.run(5.0, check_invariants)
    small = world.submit(application(component("small", 3, 3)))
    world.run(5.0, check_invariants)
    assert world.state(small) is ExecutionState.RUNNING
    assert world.state(hog) is ExecutionState.RUNNING
    assert sum(s.alive and s.node is not None for s in world.get(hog).services) == 3
    world.run(60.0, check_invariants)
    assert world.state(small) is ExecutionState.SUCCEEDED
    assert sum(s.alive and s.node is not None for s in world.get(hog).services) == 6
    assert {s.cause for s in world.get(hog).services if not s.alive} == {Cause.PREEMPTED}


def test_one_that_can_never_fit_blocks_nobody() -> None:
    world = World([node("n1", cores=4)])
    giant = world.submit(application(component("giant", 1, 1, cores=64)))
    small = world.submit(application(component("small", 1, 1)))
    world.run(1.0, check_invariants)
    assert world.state(small) is ExecutionState.RUNNING
    reason = world.get(giant).reason
    assert reason is not None
    assert reason.code is ReasonCode.NEVER_FITS


def test_start_up_order_waits_for_readiness() -> None:
    world = World([node("n1")], behave=lambda s: ServiceBehaviour(start_s=2.0, run_s=100.0))
    execution_id = world.submit(
        application(component("master", 1, 1, startup_order=0), component("worker", 1, 1, startup_order=1))
    )
    world.tick()
    states = {s.component: s.state for s in world.get(execution_id).services}
    assert states == {"master": ServiceState.STARTING, "worker": ServiceState.CREATED}
    world.run(10.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.RUNNING


def test_the_ending_component_decides_with_its_exit_code() -> None:
    def behave(start: object) -> ServiceBehaviour:
        return ServiceBehaviour(run_s=5.0, exit_code=3) if "driver" in str(start) else ServiceBehaviour()

    world = World([node("n1")], behave=lambda s: behave(s.component.name))
    execution_id = world.submit(
        application(component("master", 1, 1), component("driver", 1, 1, ends_application=True))
    )
    world.run(60.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state, execution.exit_code, execution.cause) == (ExecutionState.FAILED, 3, Cause.EXITED)
    assert not world.backend.observe()


def test_another_core_service_that_ends_first_fails_it() -> None:
    world = World([node("n1")], behave=lambda s: ServiceBehaviour(run_s=5.0 if s.component.name == "master" else 100.0))
    execution_id = world.submit(
        application(component("master", 1, 1), component("driver", 1, 1, ends_application=True))
    )
    world.run(60.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state, execution.cause) == (ExecutionState.FAILED, Cause.CORE_ENDED)
    assert "master-0" in execution.message


def test_an_elastic_service_never_fails_it_and_is_given_up_after_its_budget() -> None:
    starts: list[str] = []

    def behave(start: object) -> ServiceBehaviour:
        starts.append(str(start))
        return ServiceBehaviour(run_s=0.0, exit_code=1)

    world = World([node("n1")], behave=lambda s: behave(s.service_id) if s.index else ServiceBehaviour(run_s=500.0))
    execution_id = world.submit(application(component("worker", 1, 2)))
    world.run(499.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.RUNNING
    assert len(starts) == world.master.policy.elastic_failures_max
    world.run(60.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.SUCCEEDED


def test_retries_start_it_anew_and_are_used_up() -> None:
    world = World([node("n1")], behave=lambda _: ServiceBehaviour(run_s=1.0, exit_code=9))
    execution_id = world.submit(application(component("job", 1, 1), retries=2))
    world.run(120.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state, execution.attempt, execution.exit_code) == (ExecutionState.FAILED, 3, 9)
    assert len(execution.services) == 3


@pytest.mark.parametrize("cause", [Cause.PORT_TAKEN, Cause.ENGINE_FAULT])
def test_ends_of_the_platforms_doing_do_not_use_up_retries(cause: Cause) -> None:
    tries: list[str] = []

    def behave(service_id: str) -> ServiceBehaviour:
        tries.append(service_id)
        return ServiceBehaviour(fails=cause) if len(tries) == 1 else ServiceBehaviour(run_s=1.0)

    world = World([node("n1")], behave=lambda s: behave(s.service_id))
    execution_id = world.submit(application(component("job", 1, 1)))
    world.run(60.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.SUCCEEDED
    assert world.get(execution_id).failed_attempts == 0


def test_a_platform_that_fails_it_every_time_is_given_up() -> None:
    world = World([node("n1")], behave=lambda _: ServiceBehaviour(fails=Cause.PORT_TAKEN))
    execution_id = world.submit(application(component("job", 1, 1), retries=5))
    world.run(600.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state, execution.attempt) == (ExecutionState.FAILED, world.master.policy.start_attempts_max)


def test_being_stopped_by_an_operator_never_counts() -> None:
    stops = 5

    def behave(attempt: int) -> ServiceBehaviour:
        stopped = attempt <= stops  # with 0, too: a program may end in good order when it is asked to
        cause = Cause.STOPPED if stopped else Cause.EXITED
        return ServiceBehaviour(run_s=5.0, exit_code=143 if stopped and attempt % 2 else 0, cause=cause)

    world = World([node("n1")], behave=lambda s: behave(int(s.service_id.rsplit(".", 1)[1])))
    execution_id = world.submit(application(component("job", 1, 1)))
    world.run(1000.0, check_invariants)
    assert (world.state(execution_id), world.get(execution_id).attempt) == (ExecutionState.SUCCEEDED, stops + 1)


@pytest.mark.parametrize(
    ("kind", "state"), [(ApplicationKind.BATCH, "failed"), (ApplicationKind.INTERACTIVE, "succeeded")]
)
def test_the_time_limit_ends_it(kind: ApplicationKind, state: str) -> None:
    world = World([node("n1")], behave=lambda _: ServiceBehaviour())
    execution_id = world.submit(application(component("a", 1, 1), kind=kind, time_limit_s=30.0))
    world.run(60.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state.value, execution.cause) == (state, Cause.TIME_LIMIT)
    assert execution.marks[Mark.ENDED] == pytest.approx(1030.0)


@pytest.mark.parametrize("after_s", [0.0, 0.5, 5.0])
def test_cancel_ends_it_at_once_wherever_it_is(after_s: float) -> None:
    world = World([node("n1")], behave=lambda _: ServiceBehaviour(start_s=1.0))
    execution_id = world.submit(application(component("a", 2, 4)))
    if after_s:
        world.run(after_s)
    world.cancel(execution_id)
    world.run(1.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.CANCELLED
    assert not world.backend.observe()


def test_a_lost_hand_over_is_made_again() -> None:
    world = World([node("n1")], backend_type=BackendForgetsStarts)
    execution_id = world.submit(application(component("a", 2, 2)))
    world.run(5.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.STARTING
    world.backend.__class__ = SimulatedBackend
    world.run(60.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.SUCCEEDED


def test_a_back_end_that_takes_nothing_now_is_asked_again() -> None:
    world = World([node("n1")], backend_type=BackendRefusesStarts)
    world.backend.refusals = 3  # type: ignore[attr-defined]
    execution_id = world.submit(application(component("a", 2, 2)))
    for _ in range(4):
        world.tick()
    assert world.backend.observe()
    world.run(60.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.SUCCEEDED


def test_execution_stays_running_while_the_back_end_is_unreachable() -> None:
    world = World([node("n1")], backend_type=BackendUnreachable)
    world.backend.down = False  # type: ignore[attr-defined]
    execution_id = world.submit(application(component("a", 1, 1)))
    world.run(5.0, check_invariants)
    world.backend.down = True  # type: ignore[attr-defined]
    with pytest.raises(BackendError):
        world.master.tick()
    assert world.state(execution_id) is ExecutionState.RUNNING
    world.backend.down = False  # type: ignore[attr-defined]
    world.run(60.0, check_invariants)
    assert world.state(execution_id) is ExecutionState.SUCCEEDED


def test_one_execution_with_an_impossible_story_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([node("n1")])
    broken = world.submit(application(component("a", 1, 1)))
    world.run(2.0)

    def impossible(service: Service, *_: object) -> list[ev.Event]:
        ready = ev.ServiceReady(at_s=1.0, service_id=service.id)
        return [ready, ready] if service.id.startswith(broken) else list(news(service, *_))  # type: ignore[arg-type]

    monkeypatch.setattr(observer, "news", impossible)
    fine = world.submit(application(component("a", 1, 1)))
    world.run(60.0)
    assert world.state(broken) is ExecutionState.RUNNING
    assert world.state(fine) is ExecutionState.SUCCEEDED


@pytest.mark.parametrize("step", list(CrashPoint))
@pytest.mark.parametrize("occurrence", [1, 2, 3])
@pytest.mark.parametrize("cancelled", [False, True])
def test_a_master_that_dies_at_a_step_is_followed_by_one_that_finishes(
    step: CrashPoint, occurrence: int, cancelled: bool
) -> None:
    world = World([node("n1")], behave=lambda _: ServiceBehaviour(start_s=0.5, run_s=10.0, stop_s=1.0))
    execution_id = world.submit(
        application(component("m", 1, 1, startup_order=0), component("w", 1, 3, startup_order=1))
    )
    world.crash_once_at(step, occurrence)
    world.run(3.0, check_invariants)
    if cancelled:
        world.cancel(execution_id)
    world.run(100.0, check_invariants)
    expected = ExecutionState.CANCELLED if cancelled else ExecutionState.SUCCEEDED
    assert world.state(execution_id) is expected
    assert not world.backend.observe()
    assert len(world.get(execution_id).services) == 4, "something was started twice"


@pytest.mark.parametrize("seed", range(150))
def test_random_days_end_well(seed: int) -> None:
    """Tight clusters, random applications, cancellations and kills of the master: legal, safe, and all ends."""
    chance = random.Random(seed)
    behaviours: dict[str, ServiceBehaviour] = {}
    world = World(
        [
            node(f"n{i}", cores=chance.randint(2, 6), memory_gib=chance.randint(4, 12))
            for i in range(chance.randint(1, 3))
        ],
        behave=lambda s: behaviours.setdefault(s.service_id, random_behaviour(chance)),
    )
    submitted: list[str] = []
    for _ in range(chance.randint(3, 12)):
        if chance.random() < 0.3:
            world.crash_once_at(chance.choice(list(CrashPoint)), chance.randint(1, 4))
        submitted.append(world.submit(random_application(chance)))
        world.run(chance.choice([0.0, 1.0, 7.0]), check_invariants)
        if chance.random() < 0.2:
            world.cancel(chance.choice(submitted))
    for _ in range(200):
        world.run(60.0, check_invariants)
        waiting = [e for e in world.store.active() if not _never(e.reason)]
        if not waiting:
            break
    assert not waiting, [(e.id, e.state, e.reason) for e in waiting]
    snapshot = world.master.tick().snapshot
    assert {e.id: e for e in world.store.active()} == {e.id: e for e in (*snapshot.queued, *snapshot.active)}


def _never(reason: object) -> bool:
    return getattr(reason, "code", None) is ReasonCode.NEVER_FITS


def test_an_image_that_cannot_run_here_fails_it_before_anything_starts() -> None:
    world = World([node("n1")], images=frozenset({"zoe/tiny"}))
    wrong = component("w", 1, 1)
    execution_id = world.submit(application(component("c", 1, 1), replace(wrong, image="strange")))
    world.run(1.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state, execution.cause) == (ExecutionState.FAILED, Cause.IMAGE_UNAVAILABLE)
    assert "strange" in execution.message
    assert not any(s.started_at_s for s in execution.services)


def test_one_that_waits_for_a_pull_blocks_nobody() -> None:
    class Pulling(SimulatedBackend):
        def prepare(self, image: str) -> ImageStatus:
            return ImageStatus(ImageState.PULLING if image == "large" else ImageState.PRESENT)

    world = World([node("n1")], backend_type=Pulling)
    waits = world.submit(application(replace(component("c", 1, 1), image="large")))
    passes = world.submit(application(component("c", 1, 1)))
    world.run(1.0, check_invariants)
    assert world.state(passes) is ExecutionState.RUNNING
    reason = world.get(waits).reason
    assert reason is not None
    assert reason.code is ReasonCode.IMAGE_PULLING


def test_out_of_memory_is_retried_with_more_memory_only() -> None:
    """A job that needs 3 GiB, and asks for one."""

    def behave(start: ServiceStart) -> ServiceBehaviour:
        if start.component.reservation.memory_bytes >= 3 * GIB:
            return ServiceBehaviour(run_s=1.0)
        return ServiceBehaviour(run_s=1.0, exit_code=137, cause=Cause.OUT_OF_MEMORY)

    world = World([node("n1", memory_gib=16)], behave=behave)
    grows = world.submit(application(component("job", 1, 1), retries=3, retry=RetryRule(memory_factor=2.0)))
    plain = world.submit(application(component("job", 1, 1), retries=3))
    world.run(600.0, check_invariants)
    assert (world.state(grows), world.get(grows).attempt) == (ExecutionState.SUCCEEDED, 3)
    assert world.get(grows).application.component("job").reservation.memory_bytes == 4 * GIB
    assert (world.state(plain), world.get(plain).attempt) == (ExecutionState.FAILED, 1)


def test_retries_follow_the_exit_codes_and_pauses_of_the_description() -> None:
    world = World([node("n1")], behave=lambda _: ServiceBehaviour(run_s=1.0, exit_code=75))
    rule = RetryRule(pause_s=100.0, pause_max_s=150.0, exit_codes=(75,))
    retried = world.submit(application(component("job", 1, 1), retries=3, retry=rule))
    other = world.submit(application(component("job", 1, 1), retries=3, retry=RetryRule(exit_codes=(1, 2))))
    world.run(2000.0, check_invariants)
    assert (world.get(retried).attempt, world.get(other).attempt) == (4, 1)
    placed = [e.at_s for e in world.store.journal(0, 1000, execution_id=retried) if e.kind == "start_planned"]
    assert [round(later - before) for before, later in pairwise(placed)] == [101, 151, 151]


def test_a_thousand_requeues_do_not_stop_it() -> None:
    """Pauses are doubled with each attempt; a number that large would be no float."""
    failed = apply(started(queued("x"), "n1"), ev.Stopping(at_s=1.0, outcome=Outcome.FAILED, cause=Cause.STOPPED))
    event = next_event(replace(failed, attempt=5000, services=()), 2.0, Policy(), "t")
    assert isinstance(event, ev.Requeued)
    assert event.not_before_s == 2.0 + Policy().retry_backoff_max_s


def scaled(world: World, execution_id: str, count: int) -> None:
    execution = world.get(execution_id)
    before = {"worker": execution.application.component("worker").total_count}
    event = ev.Scaled(at_s=world.clock.now_s(), before=before, total_counts={"worker": count})
    world.store.append(execution_id, [event], execution.version, None)


def running(world: World, execution_id: str) -> list[int]:
    return sorted(s.index for s in world.get(execution_id).services if s.state is ServiceState.READY)


def test_elastic_services_come_and_go_as_it_is_scaled() -> None:
    world = World([node("n1", cores=8)], behave=lambda _: ServiceBehaviour(run_s=5000.0))
    execution_id = world.submit(application(component("worker", 2, 3)))
    world.run(10.0, check_invariants)
    assert running(world, execution_id) == [0, 1, 2]
    for count in (6, 2, 4, 2, 2, 5):
        scaled(world, execution_id, count)
        world.run(60.0, check_invariants)
        assert running(world, execution_id) == list(range(count))
        assert len(world.get(execution_id).elastic_services()) == count - 2
    assert world.state(execution_id) is ExecutionState.RUNNING
    gone = [s for s in world.get(execution_id).services if s.state is ServiceState.ENDED]
    assert {s.cause for s in gone} == {Cause.SCALED_DOWN}
    assert len(world.backend.observe()) == 5


def test_waiting_execution_is_scaled_but_keeps_essential_services() -> None:
    world = World([node("n1", cores=4)], behave=lambda _: ServiceBehaviour(run_s=50.0))
    first = world.submit(application(component("worker", 4, 4)))
    waits = world.submit(application(component("worker", 1, 4)))
    world.run(2.0, check_invariants)
    scaled(world, waits, 2)
    with pytest.raises(IllegalTransition, match="essential"):
        scaled(world, first, 3)
    world.run(50.0, check_invariants)
    assert running(world, waits) == [0, 1]
    assert len(world.get(waits).services) == 4


def test_a_new_leader_finishes_a_scaling() -> None:
    world = World([node("n1", cores=8)], behave=lambda _: ServiceBehaviour(run_s=5000.0))
    execution_id = world.submit(application(component("worker", 1, 4)))
    world.run(10.0, check_invariants)
    scaled(world, execution_id, 2)
    world.restart()
    world.run(30.0, check_invariants)
    assert running(world, execution_id) == [0, 1]


@pytest.mark.parametrize("limited", [False, True])
def test_execution_that_outgrows_its_room_fails(limited: bool) -> None:
    oom = ServiceBehaviour(run_s=1.0, exit_code=137, cause=Cause.OUT_OF_MEMORY)
    world = World([node("n1", memory_gib=4)], behave=lambda _: oom)
    if limited:
        policy = replace(Policy(), user_limits={"*": user_limit(memory_bytes=3 * GIB)})
        world.store.set_policy(policy, world.store.policy().version, world.clock.now_s(), "admin")
    rule = RetryRule(memory_factor=2.0)
    execution_id = world.submit(application(component("job", 1, 1), retries=9, retry=rule))
    after = world.submit(
        application(component("job", 1, 1)),
        conditions=Conditions(after=(Dependency(DependencyKind.OK, execution_id),)),
    )
    world.run(900.0, check_invariants)
    execution = world.get(execution_id)
    assert (execution.state, execution.cause) == (ExecutionState.FAILED, Cause.OUT_OF_MEMORY)
    assert "more memory than it can get" in execution.message
    assert world.get(after).cause is Cause.DEPENDENCY_FAILED
