"""A replay of the journal with nothing changed makes every decision again; with a change it shows what that does."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from storage_bridge.simulated import SimulatedController
from tests.simulation.test_storage import CAPACITY, wants
from tests.simulation.world import World, application, component, node, random_application, random_behaviour
from tests.support.limits import tenant_limit, user_limit
from zoe_client.vocabulary import DependencyKind, Holder
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.events import EVENT_TYPES, Event
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.storage import Guarantee
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import encode
from zoe_lib.store.postgres.store import PostgresStore
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.master import Master
from zoe_master.loop.tick_recorder import TickRecorder
from zoe_master.state.crash_points import CrashPoint
from zoe_simulator.history_replay.outcome import Decision, decisions
from zoe_simulator.history_replay.recording import Recording, ReplayRefusedError, read_recording, to_event
from zoe_simulator.history_replay.rerun import Change, Rerun


class Recorded(World):
    """A world whose masters write down what their ticks see."""

    def restart(self) -> None:
        self.store.stop_leading()
        epoch = self.store.try_lead("test")
        assert epoch is not None
        log = TickRecorder(self.store, epoch)
        reconciler = self.keeper_of(self.controller) if self.controller is not None else None
        self.master = Master(
            self.store, self.backend, epoch, clock=self.clock, hit=self._reach, tick_recorder=log, storage=reconciler
        )


def lively(seed: int, store: ExecutionStore | None = None, policy: Policy | None = None) -> Recorded:
    """Submissions, cancellations, crashes, foreign work, a node that goes and comes, changes of the policy."""
    chance = random.Random(seed)
    behaviours: dict[str, ServiceBehaviour] = {}
    nodes = [node("n1", cores=6, memory_gib=12), node("n2", cores=3, memory_gib=8)]
    world = Recorded(nodes, behave=lambda s: behaviours.setdefault(s.service_id, random_behaviour(chance)), store=store)
    world.store.set_policy(policy or Policy(backfill="easy"), 0, world.clock.now_s(), "admin")
    submitted: list[str] = []
    for turn in range(15):
        if chance.random() < 0.2:
            world.crash_once_at(chance.choice(list(CrashPoint)), chance.randint(1, 3))
        submitted.append(
            world.submit(random_application(chance), conditions=random_conditions(chance, world, submitted))
        )
        world.run(chance.choice([0.0, 1.0, 7.0, 30.0]))
        if chance.random() < 0.3:
            world.cancel(chance.choice(submitted))
        if chance.random() < 0.4:
            control(chance, world, world.get(chance.choice(submitted)))
        if chance.random() < 0.2:
            world.backend.set_foreign("n1", node("x", cores=chance.randint(0, 3), memory_gib=1).total)
        if turn == 7:
            world.backend.lose_node("n2")
        if turn == 9:
            world.backend.set_node(nodes[1])
        if turn == 11:
            world.store.set_policy(Policy(order="sjf"), world.store.policy().version, world.clock.now_s(), "admin")
    world.run(500.0)
    return world


def random_conditions(chance: random.Random, world: Recorded, submitted: Sequence[str]) -> Conditions:
    """None for most; a begin, a hold, or dependencies on some that were submitted before."""
    kinds = list(DependencyKind)
    others = chance.sample(submitted, min(len(submitted), chance.choice([0, 0, 1, 2])))
    return Conditions(
        held=chance.choice([None] * 9 + [Holder.USER]),
        begin_at_s=chance.choice([None, None, None, world.clock.now_s() + chance.randint(1, 60)]),
        after=tuple(Dependency(chance.choice(kinds), other) for other in others),
        keep=chance.random() < 0.5,
    )


def control(chance: random.Random, world: Recorded, execution: Execution) -> None:
    """Do one of the things that users and admins do to executions, as is legal."""
    before = ev.Requested.of_execution(execution)
    after = replace(before, priority=chance.randint(-2, 2), begin_at_s=chance.choice([None, world.clock.now_s() + 9]))
    wishes: list[Event] = [
        chance.choice(
            (ev.Held(at_s=world.clock.now_s(), by=Holder.USER, user="ada"), ev.Released(at_s=world.clock.now_s()))
        ),
        ev.Modified(at_s=world.clock.now_s(), before=before, after=after),
        ev.Released(at_s=world.clock.now_s(), user="ada"),
        _scaled(chance, world, execution),
        ev.OwnerChanged(at_s=world.clock.now_s(), former=execution.user, user=chance.choice(["ada", "bob"])),
        ev.Stopping(at_s=world.clock.now_s(), outcome=Outcome.FAILED, cause=Cause.REQUEUED),
    ]
    for event in chance.sample(wishes, len(wishes)):
        with suppress(IllegalTransition):
            world.store.append(execution.id, [event], execution.version, None)
            return


def _scaled(chance: random.Random, world: Recorded, execution: Execution) -> ev.Scaled:
    one = chance.choice(execution.application.components)
    counts = {one.name: one.essential_count + chance.randint(0, 2)}
    return ev.Scaled(at_s=world.clock.now_s(), before={one.name: one.total_count}, total_counts=counts)


def as_it_was(recording: Recording) -> list[Decision]:
    """The decisions in the journal."""
    return decisions(events_of(recording), recording.from_s, recording.to_s)


def events_of(recording: Recording) -> list[tuple[str, Event]]:
    """All that a master wrote."""
    entries = (entry for moment in recording.moments for entry in moment.wrote)
    return [(e.execution_id, to_event(e)) for e in entries if e.execution_id is not None and e.kind in EVENT_TYPES]


def replayed(recording: Recording, change: Change | None = None) -> list[Decision]:
    return decisions(Rerun(recording, change).run(), recording.from_s, recording.to_s)


@pytest.mark.parametrize("seed", [*range(12), 43])
def test_with_nothing_changed_every_decision_is_made_again(seed: int) -> None:
    world = lively(seed)
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    assert as_it_was(recording)
    assert replayed(recording) == as_it_was(recording)


@pytest.mark.parametrize("seed", range(6))
def test_also_from_the_middle_on(seed: int) -> None:
    world = lively(seed)
    recording = read_recording(world.store, 1020.0, world.clock.now_s())
    assert as_it_was(recording)
    assert replayed(recording) == as_it_was(recording)


def test_a_span_without_a_tick_has_no_decision() -> None:
    world = lively(1)
    world.clock.advance(100.0)
    now_s = world.clock.now_s()
    recording = read_recording(world.store, now_s - 10.0, now_s)
    assert (recording.moments, replayed(recording)) == ((), [])


@pytest.mark.parametrize("policy", [Policy(order="psbs"), Policy(order="fair-share"), Policy(backfill="conservative")])
def test_under_every_kind_of_policy(policy: Policy) -> None:
    world = lively(3, policy=policy)
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    assert replayed(recording) == as_it_was(recording)


def test_history_from_the_database_is_replayed(store: PostgresStore) -> None:
    store.accounts.ensure_member("ada", "default", "admin")
    world = lively(1, store)
    recording = read_recording(store, 1000.0, world.clock.now_s())
    assert len(as_it_was(recording)) >= 5
    assert replayed(recording) == as_it_was(recording)


def test_bandwidth_that_is_granted_and_withdrawn_is_so_again() -> None:
    controller = SimulatedController(CAPACITY)
    world = Recorded([node("n1")], behave=lambda _: ServiceBehaviour(run_s=100.0), controller=controller)
    prefers = world.submit(wants(70, Guarantee.PREFERRED))
    world.run(5.0)
    requires = world.submit(wants(60))
    world.run(5.0)
    world.cancel(requires)
    world.run(200.0)
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    assert replayed(recording) == as_it_was(recording)
    assert as_it_was(recording)
    told = of_bandwidth(prefers, events_of(recording))
    assert [kind for kind, _ in told] == ["storage_granted", "storage_withdrawn", "storage_granted"]
    assert of_bandwidth(prefers, Rerun(recording).run()) == told


def of_bandwidth(wanted: str, events: Iterable[tuple[str, Event]]) -> list[tuple[str, float]]:
    """Return the bandwidth messages of an execution, with their times."""
    return [(event.kind, event.at_s) for name, event in events if name == wanted and "storage" in event.kind]


def test_another_policy_and_one_more_node_change_what_happens() -> None:
    """A node of two cores; a long one runs, then wide, narrow: with EASY the narrow one passes."""
    world = Recorded(
        [node("n1", cores=2)], behave=lambda s: ServiceBehaviour(run_s=50.0 if "long" in s.component.name else 5.0)
    )
    world.store.set_policy(Policy(order="fifo", backfill="none"), 0, world.clock.now_s(), "admin")
    for name, cores, run_s in (("long", 1, 50.0), ("wide", 2, 5.0), ("narrow", 1, 5.0)):
        world.submit(application(component(name, 1, 1, cores=cores), expected_run_s=run_s))
        world.run(1.0)
    world.run(200.0)
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    assert replayed(recording) == as_it_was(recording)
    assert starts(as_it_was(recording)) == {"e00001": 1000.0, "e00002": 1050.0, "e00003": 1055.0}
    assert starts(replayed(recording, Change({"backfill": "easy"}))) == {
        "e00001": 1000.0,
        "e00002": 1050.0,
        "e00003": 1002.0,
    }
    more = Change(nodes=(node("n2", cores=2),))
    assert starts(replayed(recording, more)) == {"e00001": 1000.0, "e00002": 1001.0, "e00003": 1002.0}
    limits = Change({"tenant_limits": encode({"default": tenant_limit(cores_milli=1000)})})
    assert starts(replayed(recording, limits)) == {"e00001": 1000.0, "e00003": 1050.0}
    of_users = Change({"user_limits": encode({"*": user_limit(cores_milli=1000)})})
    assert starts(replayed(recording, of_users)) == starts(replayed(recording, limits))


def test_recording_of_an_unknown_span_is_refused() -> None:
    world = lively(0)
    with pytest.raises(ReplayRefusedError, match=r"no record .* begin at 1970-\d\d-\d\d .* UTC or later"):
        read_recording(world.store, 10.0, 2000.0)
    with pytest.raises(ReplayRefusedError, match=r"the start must be earlier than the end \(1970-"):
        read_recording(world.store, 1010.0, 1010.0)
    world.store.prune(world.clock.now_s() + 90 * 86400.0 - 100.0)
    with pytest.raises(ReplayRefusedError, match="removed"):
        read_recording(world.store, 1010.0, 2000.0)


def starts(found: Sequence[Decision]) -> dict[str, float]:
    return {decision.execution_id: decision.at_s for decision in found if decision.what == "start_planned"}
