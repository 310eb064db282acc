"""The simulated back-end: states follow the clock, and faults match their names."""

import math

import pytest

from zoe_lib.domain.applications.application import Component, Port, Probe, ProbeKind
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import Backend, BackendError, ObservedState, PeerService, ServiceStart
from zoe_master.backends.simulated import (
    BackendForgetsStarts,
    BackendRefusesStarts,
    BackendUnreachable,
    IgnoresTerminate,
    NeverReady,
    RunsOutOfMemory,
    ServiceBehaviour,
    SimulatedBackend,
    SimulatedClock,
    StartFails,
)
from zoe_master.waker import TickWaker

NODE = Node("node-1", Resources(4000, 2**30))
PROBED = Component(
    "web",
    "any",
    Resources(1000, 2**20),
    ports=(Port("http", 80),),
    readiness=Probe(ProbeKind.TCP, "http", timeout_s=30),
)


def start_of(service_id: str = "e.web.0.1", component: Component = PROBED, node: str = "node-1") -> ServiceStart:
    peers = (PeerService(service_id, component.name, 0, node),)
    return ServiceStart(service_id, "e", "tenant", "user", component, 0, node, peers)


def backend_of(kind: type[SimulatedBackend] = SimulatedBackend, **behaviour: object) -> SimulatedBackend:
    return kind([NODE], SimulatedClock(100.0), TickWaker(), lambda _: ServiceBehaviour(**behaviour))  # type: ignore[arg-type]


def clock_of(backend: SimulatedBackend) -> SimulatedClock:
    assert isinstance(backend._clock, SimulatedClock)
    return backend._clock


def test_is_a_backend() -> None:
    backend: Backend = backend_of()
    assert backend.observe() == []


def test_states_follow_the_clock_with_exact_times() -> None:
    backend = backend_of(start_s=2, ready_s=3, run_s=10, exit_code=7)
    backend.start(start_of())
    seen = [(o.state, o.at_s) for o in backend.observe()]
    while (change_s := backend.next_change_s()) is not None:
        clock_of(backend).advance(change_s - clock_of(backend).now_s())
        seen += [(o.state, o.at_s) for o in backend.observe()]
    assert seen == [
        (ObservedState.STARTING, 100),
        (ObservedState.STARTED, 102),
        (ObservedState.READY, 105),
        (ObservedState.ENDED, 112),
    ]
    [end] = backend.observe()
    assert (end.exit_code, end.cause, end.started_at_s) == (7, Cause.EXITED, 102)


def test_no_change_is_due_while_services_run_for_ever() -> None:
    backend = backend_of()
    backend.start(start_of())
    assert backend.next_change_s() is None
    assert backend.observe()[0].state is ObservedState.READY


def test_a_stop_voids_what_was_to_come() -> None:
    backend = backend_of(run_s=50, stop_s=4)
    backend.start(start_of())
    backend.stop(["e.web.0.1", "unknown"])
    assert backend.observe()[0].state is ObservedState.STOPPING
    assert backend.next_change_s() == 104
    clock_of(backend).advance(100)
    [end] = backend.observe()
    assert (end.at_s, end.cause, end.exit_code) == (104, Cause.STOPPED, 143)


def test_it_may_end_by_itself_while_it_is_stopped() -> None:
    backend = backend_of(run_s=2, stop_s=4)
    backend.start(start_of())
    backend.stop(["e.web.0.1"])
    clock_of(backend).advance(5)
    [end] = backend.observe()
    assert (end.at_s, end.cause, end.exit_code) == (102, Cause.EXITED, 0)


def test_a_lost_node_loses_its_services_and_takes_no_more() -> None:
    backend = backend_of()
    backend.start(start_of())
    backend.lose_node("node-1")
    backend.start(start_of("e.web.1.1"))
    lost, refused = backend.observe()
    assert lost.state is ObservedState.LOST
    assert (refused.state, refused.cause) == (ObservedState.ENDED, Cause.START_FAILED)
    assert not backend.nodes()[0].ready


def test_the_same_calls_give_the_same_answers() -> None:
    def run() -> list[object]:
        backend = SimulatedBackend(
            [NODE], SimulatedClock(), behave=lambda s: ServiceBehaviour(start_s=s.index, run_s=5, output=b"x")
        )
        seen: list[object] = []
        for index in range(5):
            backend.start(start_of(f"e.web.{index}.1"))
            clock_of(backend).advance(1)
            seen += [*backend.observe(), *backend.usage(), *backend.nodes()]
        return seen

    assert run() == run()


@pytest.mark.parametrize(
    ("kind", "cause", "exit_code"),
    [
        (StartFails, Cause.START_FAILED, None),
        (NeverReady, Cause.NEVER_READY, 143),
        (RunsOutOfMemory, Cause.OUT_OF_MEMORY, 137),
    ],
)
def test_services_end_with_the_fault_of_the_backend(
    kind: type[SimulatedBackend], cause: Cause, exit_code: int | None
) -> None:
    backend = backend_of(kind)
    backend.start(start_of())
    clock_of(backend).advance(1000)
    [end] = backend.observe()
    assert (end.state, end.cause, end.exit_code) == (ObservedState.ENDED, cause, exit_code)


def test_ignoring_terminate_ends_at_the_grace() -> None:
    backend = backend_of(IgnoresTerminate)
    backend.start(start_of())
    backend.stop(["e.web.0.1"])
    assert backend.next_change_s() == 110
    clock_of(backend).advance(10)
    assert backend.observe()[0].exit_code == 137


def test_refused_and_forgotten_starts_work_later() -> None:
    refusing = backend_of(BackendRefusesStarts)
    assert isinstance(refusing, BackendRefusesStarts)
    refusing.refusals = 1
    with pytest.raises(BackendError):
        refusing.start(start_of())
    refusing.start(start_of())
    assert len(refusing.observe()) == 1
    forgetting = backend_of(BackendForgetsStarts)
    forgetting.start(start_of())
    assert forgetting.observe() == []


def test_an_unreachable_backend_says_so() -> None:
    with pytest.raises(BackendError):
        backend_of(BackendUnreachable).observe()


def test_time_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="back"):
        SimulatedClock(5).advance(-1)
    assert math.isclose(SimulatedClock(5).now_s(), 5)
