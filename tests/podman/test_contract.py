"""The contract of the Backend Protocol, on Podman."""

from __future__ import annotations

from tests.contract import test_backend as contract
from tests.contract.backend_harnesses import Act
from tests.support.docker_backend import DockerHarness
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState

_OTHERWISE = "test_over_its_memory_limit_it_is_ended"
globals().update(
    {name: test for name, test in vars(contract).items() if name.startswith("test_") and name != _OTHERWISE}
)


def test_over_its_memory_limit_it_is_ended_and_podman_may_not_know_why(harness: DockerHarness) -> None:
    contract.begin(harness, Act.USES_TOO_MUCH_MEMORY)
    found = harness.reach(contract.SERVICE, ObservedState.ENDED)
    assert found.exit_code == 137
    assert found.cause is Cause.OUT_OF_MEMORY or "for lack of memory" in found.message
