"""Components with devices that join a network: an expected rejection, and a retry."""

from __future__ import annotations

from tests.support.swarm_installation import Installation
from tests.swarm.test_master_faults import sleepers
from zoe_lib.descriptions import parse
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.executions.execution import Cause, ExecutionState


def test_rejection_by_swarm_counts_as_an_engine_fault(installation: Installation) -> None:
    backend = installation.harness.backend
    devices = {"resources": {"memory": "32MiB", "cores": 0.05, "devices": {"gpu": 1}}}
    platform = Platform(tuple(backend.nodes()), backend.capabilities())
    alone = {**sleepers("alone", **devices)["components"][0], "ports": []}
    told = {
        name: [(finding.code, finding.certain) for finding in findings(parse(description), Target(platform))]
        for name, description in {
            "with a port": sleepers("port", **devices),
            "of two components": {
                **sleepers("two"),
                "components": [alone, {**sleepers("two")["components"][0], "name": "other", "ports": []}],
            },
            "alone": {**sleepers("alone"), "components": [alone]},
        }.items()
    }
    doubt = [("devices_with_network", False)]
    assert told == {"with a port": doubt, "of two components": doubt, "alone": []}
    ids = [installation.submit(sleepers(f"port-{number}", **devices)) for number in range(2)]
    for execution_id in ids:
        found = installation.until(
            execution_id, lambda e: e.state is ExecutionState.RUNNING or e.attempt > 1 or e.terminal, 60
        )
        ends = {service.cause for service in found.services if service.cause is not None}
        assert ends <= {Cause.ENGINE_FAULT}, installation.story(found)
        assert found.failed_attempts == 0
