"""Executions go where their inputs lie, if nodes are hosts of the store, and wait a second at most to learn of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from storage_bridge.base import StorageController
from storage_bridge.model import AchievedBandwidth, StorageUnavailableError
from storage_bridge.simulated import SimulatedController
from tests.simulation.test_history_replay import Recorded, as_it_was, events_of, replayed
from tests.simulation.test_storage import CAPACITY, kinds
from tests.simulation.test_storage_of_a_tenant import Slow
from tests.simulation.world import World, application, component, node
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.locality import InputObjects, InputPlaces, Places
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import StorageDemand, StorageObject, object_of
from zoe_lib.store.documents.codec import encode
from zoe_lib.store.values import TickRecord
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.tick_recorder import Inputs, inputs_after
from zoe_master.scheduler.what_if.explain import explain
from zoe_simulator.history_replay.recording import read_recording

NODES = tuple(replace(node(f"n{i}"), addresses=(f"10.0.0.{i}",)) for i in (1, 2, 3))
METERS = "swift2d://meters.zoe/2015"


def on(host: str, objects: int = 4) -> Places:
    """Three quarters of an input on that host, and all of it on the first one."""
    held = InputObjects(objects, 100 * objects)
    return Places(held, held, {"10.0.0.1": InputObjects(1, 100), host: InputObjects(objects * 3 // 4, 75 * objects)})


class Told(SimulatedController):
    """`asked` counts questions for places; while `mute` is set these are not answered, and all else is."""

    def __init__(self, host: str, *uris: str) -> None:
        super().__init__(CAPACITY, places={("default", uri): on(host) for uri in uris or (METERS,)})
        self.asked = 0
        self.mute = False

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
        self.asked += 1
        if self.mute:
            raise StorageUnavailableError("it takes too long")
        return super().locality(tenant, uri, token)


def reads(*uris: str, essential: int = 1, total: int = 1, cores: int = 1) -> Application:
    inputs = tuple(StorageObject(f"i{n}", uri) for n, uri in enumerate(uris or (METERS,)))
    return application(component("c", essential, total, cores=cores), storage=StorageDemand(inputs=inputs))


def world(controller: StorageController, nodes: Sequence[Node] = NODES, kind: type[World] = World) -> World:
    return kind(nodes, behave=lambda _: ServiceBehaviour(run_s=100.0), controller=controller)


def nodes_of(one: World, execution_id: str) -> list[str | None]:
    return [service.node for service in one.get(execution_id).services]


@pytest.mark.parametrize("host", ["10.0.0.3", "n3", "N3", "::ffff:10.0.0.3"])
def test_an_execution_goes_where_its_input_lies_by_address_and_by_name(host: str) -> None:
    one = world(Told(host))
    execution_id = one.submit(reads())
    one.tick()
    execution = one.get(execution_id)
    assert nodes_of(one, execution_id) == ["n3"]
    told = Places(InputObjects(4, 400), InputObjects(4, 400), {"n1": InputObjects(1, 100), "n3": InputObjects(3, 300)})
    assert execution.places == (InputPlaces("i0", told),)


def test_the_next_try_goes_to_the_next_best() -> None:
    one = world(Told("10.0.0.3"), [NODES[1], NODES[0], NODES[2]])
    execution_id = one.submit(reads())
    one.tick()
    one.backend.lose_node("n3")
    one.run(0.0)
    assert one.get(execution_id).attempt == 2
    one.run(30.0)
    assert nodes_of(one, execution_id) == ["n3", "n1"]
    assert one.get(execution_id).places


def test_why_one_waits_has_where_its_inputs_lie() -> None:
    one = world(Told("10.0.0.3"))
    unknown = "swift2d://other.zoe/2015"
    waits = one.submit(reads(METERS, unknown, essential=30, total=30))
    tick = one.tick()
    told = explain(tick.snapshot, one.master.policy, waits)
    assert told is not None
    assert [place.name for place in told.places] == ["i0", "i1"]
    assert [place.places is None for place in told.places] == [False, True]


def test_so_do_elastic_services_that_come_later() -> None:
    """Its places are still known when it has left the queue: room on an emptier node does not draw it away."""
    one = world(Told("10.0.0.3"))
    fills = []
    for cores in (8, 8, 4):
        fills.append(one.submit(application(component("c", 1, 1, cores=cores))))
        one.tick()
    assert [nodes_of(one, fill) for fill in fills] == [["n1"], ["n2"], ["n3"]]
    grows = one.submit(reads(essential=1, total=2, cores=4))
    one.run(5.0)
    assert nodes_of(one, grows) == ["n3", None]
    for fill in fills[1:]:
        one.cancel(fill)
    one.run(5.0)
    assert nodes_of(one, grows) == ["n3", "n3"]


def test_where_no_node_is_a_host_of_the_store_nothing_changes_and_hardly_anything_is_asked() -> None:
    uris = [f"{METERS}/{n}" for n in range(100)]
    controller = Told("10.9.9.9", *uris)
    strangers = [replace(node, addresses=()) for node in NODES]
    one, plain = world(controller, strangers), world(SimulatedController(CAPACITY), strangers)
    for made in (one, plain):
        for uri in uris:
            made.submit(reads(uri))
            made.run(1.0)
    placed = [[nodes_of(made, e.id) for e in made.store.active()] for made in (one, plain)]
    assert placed[0] == placed[1]
    assert controller.asked <= 22
    one.backend.set_node(replace(NODES[0], addresses=("10.9.9.9",)))
    one.run(1000.0)
    following = one.submit(reads(uris[0]))
    one.tick()
    assert nodes_of(one, following) == ["n1"]


class SlowTold(Slow):
    """A controller whose looks take two seconds, each."""


def test_execution_waits_a_second_at_most_for_its_locations() -> None:
    one = world(Told("10.0.0.3"), kind=SlowTold)
    assert isinstance(one, SlowTold)
    execution_id = one.submit(reads())
    one.tick()
    reason = one.get(execution_id).reason
    assert reason is not None
    assert reason.code is ReasonCode.LOCATING_INPUTS
    assert one.master.next_due_s(one.clock.now_s()) == one.clock.now_s() + 1.0
    one.clock.advance(1.0)
    one.tick()
    assert nodes_of(one, execution_id) == ["n1"]
    one.answer()
    one.run(1.0)
    following = one.submit(reads())
    one.tick()
    assert nodes_of(one, following) == ["n3"]
    assert "reason_changed" not in kinds(one, following)


def test_execution_without_inputs_does_not_wait_for_locations() -> None:
    one = world(Told("10.0.0.3"), kind=SlowTold)
    one.submit(reads())
    plain = one.submit(application(component("c", 1, 1)))
    one.tick()
    assert one.state(plain) is ExecutionState.STARTING


def test_one_that_does_not_tell_delays_nobody() -> None:
    controller = Told("10.0.0.3")
    controller.mute = True
    one = world(controller)
    for _ in range(10):
        execution_id = one.submit(reads())
        one.tick()
        assert one.state(execution_id) is ExecutionState.STARTING
    assert controller.asked == 1


def test_without_a_controller_nothing_is_known_and_nobody_waits() -> None:
    one = World(NODES, behave=lambda _: ServiceBehaviour(run_s=100.0))
    execution_id = one.submit(reads())
    one.tick()
    assert nodes_of(one, execution_id) == ["n1"]


class RecordedSlow(Recorded, SlowTold):
    """Both."""


@pytest.mark.parametrize("slow", [False, True])
def test_a_replay_places_as_it_was(slow: bool) -> None:
    """The answers are recorded, and the waits for them."""
    one = world(Told("10.0.0.3"), kind=RecordedSlow if slow else Recorded)
    for _ in range(3):
        one.submit(reads())
        one.run(1.0)
        if isinstance(one, RecordedSlow):
            one.answer()
    one.run(300.0)
    recording = read_recording(one.store, 1000.0, one.clock.now_s())
    assert len(events_of(recording)) > 12
    assert replayed(recording) == as_it_was(recording)


def test_a_replay_knows_what_nodes_moved() -> None:
    """With a policy that looks at it: n1 is busy with other reads, and then n2 is."""
    controller = Told("10.0.0.9")
    one = world(controller, kind=Recorded)
    wanted = replace(Policy(), weighers={"fewest_containers": 1.0, "storage_headroom": 2.0})
    one.store.set_policy(wanted, one.store.policy().version, one.clock.now_s(), "test")
    placed = []
    for busy in ("10.0.0.1", "10.0.0.2", "10.0.0.1"):
        controller.by_address = {busy: AchievedBandwidth(90e6, 0.0), "10.0.0.3": AchievedBandwidth(80e6, 0.0)}
        one.tick()  # which looks at the controller
        placed.append(one.submit(reads()))
        one.run(50.0)
    assert [nodes_of(one, execution) for execution in placed] == [["n2"], ["n1"], ["n2"]]
    one.run(300.0)
    recording = read_recording(one.store, 1000.0, one.clock.now_s())
    assert replayed(recording) == as_it_was(recording)


def test_records_of_before_are_read() -> None:
    """Places were the names of nodes then, whatever these hold."""
    name = object_of("default", METERS)
    whole = {**encode(Inputs()), "locality": {name: ["n1", "n2"]}}
    whole.pop("awaited")
    record = TickRecord("plan", 1.0, 1, 0, True, whole)
    one = InputObjects(1, 1)
    told = {name: Places(one, one, {"n1": one, "n2": one})}
    assert inputs_after(Inputs(), record).locality == told
    changed = TickRecord("plan", 1.0, 1, 0, False, {"locality": {name: ["n1", "n2"]}})
    assert inputs_after(Inputs(), changed).locality == told
    now = Inputs(locality=told)
    assert inputs_after(Inputs(), TickRecord("plan", 1.0, 1, 0, True, encode(now))) == now
