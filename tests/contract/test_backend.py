"""Contract of every Backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.contract.backend_harnesses import OUTPUT, Act, Harness, LocalHarness, SimulatedHarness
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import BackendError, ImageState, Observation, ObservedState

SERVICE = "e.c.0.1"
HARNESSES: dict[str, Callable[[], Harness]] = {
    "simulated": SimulatedHarness,
    "local": LocalHarness,
    "local-sampled": lambda: LocalHarness(cgroups=False),
}


@pytest.fixture(params=HARNESSES)
def harness(request: pytest.FixtureRequest) -> Iterator[Harness]:
    made = HARNESSES[request.param]()
    yield made
    made.finish()


def seen(harness: Harness, service: str = SERVICE) -> Observation | None:
    return next((o for o in harness.backend.observe() if o.service_id == service), None)


def reach(harness: Harness, *states: ObservedState, service: str = SERVICE) -> Observation:
    def there() -> bool:
        found = seen(harness, service)
        return found is not None and found.state in states

    harness.until(there)
    found = seen(harness, service)
    assert found is not None
    return found


def begin(harness: Harness, act: Act, service: str = SERVICE) -> None:
    harness.backend.start(harness.start_of(act, service))


def test_a_started_service_is_seen_at_once(harness: Harness) -> None:
    begin(harness, Act.RUNS)
    found = seen(harness)
    assert found is not None
    assert (found.execution_id, found.node) == ("e", "node-1")


def test_without_a_probe_it_is_ready_once_it_runs(harness: Harness) -> None:
    begin(harness, Act.RUNS)
    found = reach(harness, ObservedState.READY)
    assert found.started_at_s is not None
    assert found.backend_id
    assert found.exit_code is None


def test_with_a_probe_it_is_ready_when_the_probe_is_answered(harness: Harness) -> None:
    begin(harness, Act.SERVES)
    found = reach(harness, ObservedState.READY)
    assert found.started_at_s is not None
    assert found.at_s >= found.started_at_s


def test_its_end_is_seen_with_exit_code_and_time(harness: Harness) -> None:
    begin(harness, Act.EXITS_7)
    found = reach(harness, ObservedState.ENDED)
    assert (found.exit_code, found.cause) == (7, Cause.EXITED)
    assert found.started_at_s is not None
    assert found.at_s >= found.started_at_s


def test_started_twice_is_started_once(harness: Harness) -> None:
    begin(harness, Act.PRINTS)
    begin(harness, Act.PRINTS)
    reach(harness, ObservedState.ENDED)
    begin(harness, Act.PRINTS)
    assert len(harness.backend.observe()) == 1
    assert harness.backend.logs(SERVICE, 0, 1000).data == OUTPUT


def test_never_ready_is_ended(harness: Harness) -> None:
    begin(harness, Act.NEVER_READY)
    found = reach(harness, ObservedState.ENDED)
    assert found.cause is Cause.NEVER_READY
    assert "did not answer" in found.message


def test_stop_ends_it(harness: Harness) -> None:
    begin(harness, Act.SERVES)
    reach(harness, ObservedState.READY)
    harness.backend.stop([SERVICE])
    found = reach(harness, ObservedState.ENDED)
    assert (found.cause, found.exit_code) == (Cause.STOPPED, 143)


def test_stop_right_after_start_ends_it(harness: Harness) -> None:
    begin(harness, Act.RUNS)
    harness.backend.stop([SERVICE])
    assert reach(harness, ObservedState.ENDED).cause is Cause.STOPPED


def test_service_that_ignores_terminate_is_killed_after_its_grace(harness: Harness) -> None:
    begin(harness, Act.IGNORES_TERMINATE)
    harness.until(lambda: harness.backend.logs(SERVICE, 0, 100).data == b"up\n")
    harness.backend.stop([SERVICE])
    found = reach(harness, ObservedState.ENDED)
    assert (found.cause, found.exit_code) == (Cause.STOPPED, 137)


def test_stop_of_unknown_and_ended_services_is_ignored(harness: Harness) -> None:
    harness.backend.stop(["e.nobody.0.1"])
    begin(harness, Act.EXITS_7)
    before = reach(harness, ObservedState.ENDED)
    harness.backend.stop([SERVICE, SERVICE])
    assert seen(harness) == before


def test_over_its_memory_limit_it_is_ended(harness: Harness) -> None:
    begin(harness, Act.USES_TOO_MUCH_MEMORY)
    found = reach(harness, ObservedState.ENDED)
    assert (found.cause, found.exit_code) == (Cause.OUT_OF_MEMORY, 137)


def test_a_port_taken_is_told_before_anything_runs(harness: Harness) -> None:
    begin(harness, Act.FINDS_PORT_TAKEN)
    found = reach(harness, ObservedState.ENDED)
    assert (found.cause, found.exit_code, found.started_at_s) == (Cause.PORT_TAKEN, None, None)


def test_an_unknown_image_cannot_be_started_and_there_is_a_hint(harness: Harness) -> None:
    status = harness.backend.prepare("nothing")
    assert status.state is ImageState.UNAVAILABLE
    assert "cannot run on this back-end" in status.message
    assert "shell" in status.hint
    assert harness.backend.prepare("shell").state is ImageState.PRESENT
    begin(harness, Act.HAS_NO_IMAGE)
    found = reach(harness, ObservedState.ENDED)
    assert (found.cause, found.exit_code) == (Cause.IMAGE_UNAVAILABLE, None)
    assert "shell" in found.message


def test_an_unknown_node_is_a_failed_start(harness: Harness) -> None:
    harness.backend.start(replace(harness.start_of(Act.RUNS, SERVICE), node="nowhere"))
    found = reach(harness, ObservedState.ENDED)
    assert found.cause is Cause.START_FAILED
    assert "nowhere" in found.message


def test_a_forgotten_service_is_neither_reported_nor_started_again_but_read(harness: Harness) -> None:
    begin(harness, Act.PRINTS)
    reach(harness, ObservedState.ENDED)
    harness.backend.forget([SERVICE, "e.nobody.0.1"])
    assert seen(harness) is None
    begin(harness, Act.PRINTS)
    assert seen(harness) is None
    chunk = harness.backend.logs(SERVICE, 0, 1000)
    assert (chunk.data, chunk.complete) == (OUTPUT, True)


def test_running_service_is_not_forgotten(harness: Harness) -> None:
    begin(harness, Act.RUNS)
    reach(harness, ObservedState.READY)
    harness.backend.forget([SERVICE])
    assert seen(harness) is not None


def test_output_is_read_in_pieces_and_says_when_it_is_complete(harness: Harness) -> None:
    begin(harness, Act.PRINTS)
    reach(harness, ObservedState.ENDED)
    data, offset, complete = b"", 0, False
    while not complete:
        chunk = harness.backend.logs(SERVICE, offset, 4)
        assert chunk.offset == offset
        assert len(chunk.data) <= 4
        data, offset, complete = data + chunk.data, chunk.next_offset, chunk.complete
    assert data == OUTPUT
    beyond = harness.backend.logs(SERVICE, offset, 4)
    assert (beyond.data, beyond.next_offset, beyond.complete) == (b"", offset, True)


def test_output_of_what_runs_is_not_complete(harness: Harness) -> None:
    begin(harness, Act.RUNS)
    reach(harness, ObservedState.READY)
    assert not harness.backend.logs(SERVICE, 0, 100).complete


def test_unknown_services_and_ports_are_errors(harness: Harness) -> None:
    with pytest.raises(BackendError):
        harness.backend.logs("e.nobody.0.1", 0, 1)
    with pytest.raises(BackendError):
        harness.backend.address("e.nobody.0.1", "main")
    begin(harness, Act.SERVES)
    reach(harness, ObservedState.READY)
    assert harness.backend.address(SERVICE, "main").port > 0
    with pytest.raises(BackendError):
        harness.backend.address(SERVICE, "other")


def test_usage_is_of_what_runs(harness: Harness) -> None:
    begin(harness, Act.SERVES)
    reach(harness, ObservedState.READY)
    harness.until(lambda: any(usage.memory_bytes > 0 for usage in harness.backend.usage()))
    [usage] = harness.backend.usage()
    assert (usage.service_id, usage.execution_id, usage.node) == (SERVICE, "e", "node-1")
    assert usage.cpu_s >= 0
    harness.backend.stop([SERVICE])
    reach(harness, ObservedState.ENDED)
    assert harness.backend.usage() == []


def test_nodes_count_what_runs_on_them(harness: Harness) -> None:
    begin(harness, Act.RUNS)
    reach(harness, ObservedState.READY)
    assert [node.name for node in harness.backend.nodes() if node.containers] == ["node-1"]
    assert sum(node.containers for node in harness.backend.nodes()) == 1
    assert all(node.ready and node.usable.memory_bytes >= 0 for node in harness.backend.nodes())
    harness.backend.stop([SERVICE])
    reach(harness, ObservedState.ENDED)
    assert sum(node.containers for node in harness.backend.nodes()) == 0


def test_a_change_wakes_the_master(harness: Harness) -> None:
    harness.waker.wait(0)
    begin(harness, Act.SERVES)
    reach(harness, ObservedState.READY)
    harness.backend.stop([SERVICE])
    assert harness.waker.wait(10)


def test_a_new_backend_finds_everything(harness: Harness) -> None:
    begin(harness, Act.SERVES, "e.c.0.1")
    begin(harness, Act.EXITS_7, "e.c.1.1")
    before = [
        reach(harness, ObservedState.READY, service="e.c.0.1"),
        reach(harness, ObservedState.ENDED, service="e.c.1.1"),
    ]
    address = harness.backend.address("e.c.0.1", "main")
    harness.reopen()
    assert {o.service_id for o in harness.backend.observe()} == {"e.c.0.1", "e.c.1.1"}
    # An engine that is busy may tell its part only now.
    harness.until(lambda: sorted(harness.backend.observe(), key=lambda o: o.service_id) == before)
    assert harness.backend.address("e.c.0.1", "main") == address
    harness.backend.stop(["e.c.0.1"])
    assert reach(harness, ObservedState.ENDED, service="e.c.0.1").cause is Cause.STOPPED


def test_many_services_are_handed_over_at_once(harness: Harness) -> None:
    services = [f"e.c.{index}.1" for index in range(12)]
    for service in services:
        begin(harness, Act.RUNS, service)
    for service in services:
        reach(harness, ObservedState.READY, service=service)
    harness.backend.stop(services)
    for service in services:
        reach(harness, ObservedState.ENDED, service=service)
    harness.backend.forget(services)
    assert harness.backend.observe() == []
