"""An engine that is away for a while: nothing is lost, nothing is doubled, and the node says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.docker.one_engine import OneEngine
from tests.support.docker_backend import DockerHarness
from tests.support.swarm_backend import small
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import BackendError, BackendUnavailable, ObservedState

# Docker's client leaves the socket of each refused connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
READY, ENDED = ObservedState.READY, ObservedState.ENDED


@pytest.fixture
def away(engine: OneEngine, harness: DockerHarness) -> Iterator[DockerHarness]:
    """A harness whose engine the test may end; it runs again afterwards."""
    yield harness
    if not engine.machine.engine_runs:
        engine.machine.start_engine()
    engine.machine.await_engine()


def ready(harness: DockerHarness) -> bool:
    [node] = harness.backend.nodes()
    return node.ready


def test_a_start_waits_for_the_engine_and_what_ended_meanwhile_is_told(away: DockerHarness) -> None:
    away.settings = replace(away.settings, start_timeout_s=0.0)  # an engine that is away is waited for as long as it is
    away.start(small("exec sleep 1000"), "e.c.0.1")
    away.reach("e.c.0.1", READY)
    away.engine.machine.end_engine()
    away.until(lambda: not ready(away))
    [node] = away.backend.nodes()
    assert node.message == "its engine does not answer"
    away.start(small("echo once"), "f.c.0.1")
    with pytest.raises(BackendError):
        away.backend.logs("g.c.0.1", 0, 10)
    away.engine.machine.start_engine()
    away.reach("f.c.0.1", ENDED)
    assert away.output("f.c.0.1") == "once\n"
    assert away.reach("e.c.0.1", ENDED).cause is Cause.KILLED
    away.until(lambda: ready(away))


def test_a_back_end_on_an_engine_that_is_away_is_unavailable(away: DockerHarness) -> None:
    away.engine.machine.end_engine()
    with pytest.raises(BackendUnavailable, match=r"no engine answers at .*: start it"):
        away.backend.nodes()
    away.engine.machine.start_engine()
    away.engine.machine.await_engine()
    assert ready(away)


def test_an_engine_that_hangs_is_blamed_for_missing_output_and_what_is_kept_is_shown(away: DockerHarness) -> None:
    away.start(small("echo first; exec sleep 1000"))
    away.reach("e.c.0.1", READY)
    away.until(lambda: away.output("e.c.0.1") == "first\n")
    away.engine.machine.pause_engine()
    try:
        assert away.output("e.c.0.1") == "first\n"
        with pytest.raises(BackendError, match="the engine of node-1 does not answer, so its newer output cannot"):
            away.backend.logs("e.c.0.1", len("first\n"), 10)
    finally:
        away.engine.machine.resume_engine()


def test_ended_containers_go_when_the_stack_stops_and_their_ends_and_output_stay(harness: DockerHarness) -> None:
    harness.start(small("echo kept"))
    harness.reach("e.c.0.1", ENDED)
    assert [name for name in harness.left() if name.startswith("container")]
    harness.backend.remove_ended()
    assert not [name for name in harness.left() if name.startswith("container")]
    harness.reopen()
    assert harness.reach("e.c.0.1", ENDED).exit_code == 0
    assert harness.output("e.c.0.1") == "kept\n"
