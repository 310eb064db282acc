"""What containers of Podman get: as on Docker."""

from __future__ import annotations

from typing import Any

from tests.docker import test_containers as containers
from tests.support.docker_backend import DockerHarness
from tests.support.swarm_backend import small
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState
from zoe_master.backends.engine.daemon.dialects import KILLED_WORDS
from zoe_master.backends.engine.spec.naming import labels

_OTHERWISE = "test_a_container_removed_from_outside_is_an_end"
globals().update(
    {name: test for name, test in vars(containers).items() if name.startswith("test_") and name != _OTHERWISE}
)


def test_a_container_removed_from_outside_is_an_end_and_podman_may_not_know_why(harness: DockerHarness) -> None:
    """Podman sends no `kill` event for it; if the container is still there at its end, it looks like any kill."""
    harness.start(small("exec sleep 1000"))
    harness.reach("e.c.0.1", ObservedState.READY)
    api: Any = harness.engine.machine.api
    [entry] = api.containers(filters={"label": labels.SERVICES})
    api.remove_container(entry["Id"], force=True)
    ended = harness.reach("e.c.0.1", ObservedState.ENDED)
    assert ended.cause is Cause.KILLED or KILLED_WORDS in ended.message
