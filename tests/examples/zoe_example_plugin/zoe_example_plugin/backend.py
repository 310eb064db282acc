"""A back-end that runs nothing: each service succeeds after a while. It rehearses a policy on real submissions."""

from __future__ import annotations

from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources
from zoe_lib.settings.config import Settings
from zoe_master.backends.base import Backend, BackendError, ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend
from zoe_master.waker import TickWaker


def rehearsal(settings: Settings, waker: TickWaker) -> Backend:
    """Make the back-end: a node for each of `local_nodes`, and services that run for `run_s` seconds."""
    try:
        run_s = float(settings.backend_options.get("run_s", "1"))
    except ValueError:
        raise BackendError("backend_options.run_s must be a number of seconds") from None
    nodes = [
        Node(n.name, Resources(round(n.cores * 1000), n.memory_bytes), labels=n.labels) for n in settings.local_nodes
    ]

    def behave(_start: ServiceStart) -> ServiceBehaviour:
        return ServiceBehaviour(run_s=run_s)

    return SimulatedBackend(nodes, SYSTEM_CLOCK, waker, behave)
