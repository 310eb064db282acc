"""Invariants of bandwidth: required bandwidth is in force while executions run, and its sum is within the capacity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark, ServiceState
from zoe_lib.domain.executions.promises import Rates, required_rates

_HOLDS = (ExecutionState.STARTING, ExecutionState.RUNNING)
_RUNS = (ServiceState.STARTING, ServiceState.READY)


def grant_problems(executions: Iterable[Execution], controller: SimulatedController) -> Iterator[str]:
    """Yield violations of bandwidth guarantees, as sentences; also while the controller is unreachable."""
    granted: dict[str, Rates] = {}
    for execution in executions:
        wish = required_rates(execution.application)
        if wish is None or execution.state not in _HOLDS:
            continue
        if Mark.STORAGE_GRANTED in execution.marks:
            granted[execution.tenant] = granted.get(execution.tenant, Rates()) + wish
        elif any(service.state in _RUNS for service in execution.services):
            yield f"{execution.id} runs before its required bandwidth is granted, or after it was withdrawn"
    for tenant, rates in granted.items():
        slo = controller.in_force.get(tenant)
        there = Rates() if slo is None else Rates(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0)
        if not rates.fits_in(there):
            yield f"{tenant} was granted {rates}, and the controller holds {there}"
    together = sum(granted.values(), Rates())
    if not together.fits_in(Rates(controller.capacity_bytes_per_s, controller.capacity_bytes_per_s)):
        yield f"{together} is granted of {controller.capacity_bytes_per_s} bytes per second"
