"""The size of a demand relative to the cluster, as one number over all resources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources


def capacity_of(nodes: Collection[Node]) -> Resources:
    """Return the total of all nodes, including nodes that are down and foreign use.

    So sizes change only when a node is added or removed, not with each change of foreign use.
    """
    devices: Counter[str] = Counter()
    for node in nodes:
        if node.total.devices:
            devices.update(node.total.devices)
    cores_milli = sum(node.total.cores_milli for node in nodes)
    return Resources(cores_milli, sum(node.total.memory_bytes for node in nodes), dict(devices))


def dominant_cores(resources: Resources, capacity: Resources) -> float:
    """Return the number of cores that is the same share of the cluster as the most requested resource.

    This is the dominant share (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011) times the cores of the cluster,
    in thousandths: a job that asks for a quarter of the memory counts as a quarter of the cores. Without a known
    capacity only cores count. At least one thousandth, so that an empty demand still has a size.
    """
    largest = float(max(resources.cores_milli, 1))
    cores_milli = capacity.cores_milli
    if cores_milli <= 0:
        return largest
    if capacity.memory_bytes > 0:
        largest = max(largest, resources.memory_bytes * cores_milli / capacity.memory_bytes)
    for kind, pieces in resources.devices.items():
        if capacity.devices.get(kind, 0) > 0:
            largest = max(largest, pieces * cores_milli / capacity.devices[kind])
    return largest
