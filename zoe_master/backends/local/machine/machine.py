"""This machine as nodes: the configured virtual nodes, less foreign use."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.local.settings import LocalNode

# Foreign memory is reported in steps, so that small changes are not news.
FOREIGN_STEP_BYTES = 16 * 2**20
DEFAULT_NODE_NAME = "local"


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Bytes of memory of the machine, and those available without swapping."""

    total_bytes: int
    available_bytes: int


def read_machine_memory() -> NodeMemory:
    """Return the present figures."""
    memory = psutil.virtual_memory()
    return NodeMemory(memory.total, memory.available)


def machine_hosts() -> tuple[str, ...]:
    """Return the name of this machine and all its addresses, including loopback: nodes are nowhere else."""
    families = (socket.AF_INET, socket.AF_INET6)
    found = (
        item.address for all_of_it in psutil.net_if_addrs().values() for item in all_of_it if item.family in families
    )
    return (socket.gethostname(), *sorted({address.partition("%")[0] for address in found}))


def default_node() -> LocalNode:
    """Return one node of the machine's size."""
    return LocalNode(DEFAULT_NODE_NAME, (psutil.cpu_count() or 1) * 1000, psutil.virtual_memory().total)


def nodes_now(
    nodes: Sequence[LocalNode],
    memory: NodeMemory,
    ours_bytes: int,
    services: Mapping[str, int],
    hosts: tuple[str, ...] = (),
) -> list[Node]:
    """Return the nodes with foreign memory and the number of our services on each; `hosts` are names of the machine.

    Foreign use first fills the memory that belongs to no node; only the rest is subtracted from the nodes, in
    proportion to their sizes. Foreign use of cores does not count: present use predicts little of the next second.
    """
    given_bytes = sum(node.memory_bytes for node in nodes)
    foreign_bytes = memory.total_bytes - memory.available_bytes - ours_bytes
    taken_bytes = max(0, foreign_bytes - max(0, memory.total_bytes - given_bytes))
    return [
        Node(
            name=node.name,
            total=Resources(node.cores_milli, node.memory_bytes, dict(node.devices)),
            foreign=Resources(memory_bytes=_share(node, taken_bytes, given_bytes)),
            labels=dict(node.labels),
            containers=services.get(node.name, 0),
            addresses=hosts,
        )
        for node in nodes
    ]


def _share(node: LocalNode, taken_bytes: int, given_bytes: int) -> int:
    if taken_bytes == 0 or given_bytes == 0:
        return 0
    share = taken_bytes * node.memory_bytes // given_bytes
    stepped = -(-share // FOREIGN_STEP_BYTES) * FOREIGN_STEP_BYTES
    return min(stepped, node.memory_bytes)
