"""The size of a running Zoe's cluster."""

from __future__ import annotations

from tests.support.waiting import until
from zoe_client import Client


def all_cores(client: Client) -> float:
    """Return the cores of all nodes, once the master has seen them: a new stack knows none until its first
    observation.
    """
    return until(lambda: sum(node.cores for node in client.nodes().nodes))
