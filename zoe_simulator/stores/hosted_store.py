"""An object store with disks in the simulated machines: inputs on a reader's own machine need no network."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_simulator.stores.shared_store import Reader, max_min
from zoe_simulator.workload import Arrival

# Inputs of one object and of many; the sizes of the objects of one input differ.
_OBJECTS = (1, 2, 4, 8, 16, 32, 64)
_SIZE_SIGMA = 1.0
_SIZE_MEDIAN = 2**27
_NAME = "disks"

Inputs = Mapping[tuple[str, str], Places]
"""By tenant and URI."""


def input_of(arrival: Arrival) -> tuple[str, str]:
    """Return tenant and URI of an application's input."""
    return arrival.tenant, f"swift2d://{arrival.tenant}.zoe/{arrival.number}"


def spread(workload: Sequence[Arrival], nodes: Sequence[Node], seed: int, replicas: int) -> Inputs:
    """Put each object on this many different machines at random, as a ring does."""
    chance = random.Random(f"places {seed}")
    names = [node.name for node in nodes]
    places = {}
    for arrival in workload:
        hosts: dict[str, InputObjects] = defaultdict(InputObjects)
        everything = InputObjects()
        for _ in range(chance.choice(_OBJECTS)):
            held = InputObjects(1, int(chance.lognormvariate(math.log(_SIZE_MEDIAN), _SIZE_SIGMA)))
            everything += held
            for name in chance.sample(names, replicas):
                hosts[name] += held
        if arrival.reading is not None:
            places[input_of(arrival)] = Places(everything, everything, dict(hosts))
    return places


class HostedStore:
    """Gives every reader its bandwidth; `controller` reports the places of inputs.

    path: bytes per second that a machine can receive over the network, shared by max-min among its readers. Disks have
    no limit. If the share `s` of an input lies on a machine, a component there needs the network for the rest, and so
    is at most 1 / (1 - s) times as fast as its part of the path.
    """

    def __init__(self, path: int, inputs: Inputs) -> None:
        self._path = path
        self._inputs = inputs
        self.controller = SimulatedController(Capacity(path, {_NAME: path}), places=inputs)

    def share(self, readers: Sequence[Reader]) -> None:
        """Set the bandwidth, and the part of it that comes over the network, of all present readers."""
        on_machine: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
        for i, reader in enumerate(readers):
            count = sum(reader.components.values())
            for name, here in reader.components.items():
                demand = reader.progress.demand * here / count
                on_machine[name].append((i, demand, 1.0 - self._local(reader, name)))
        usable, remote = [0.0] * len(readers), [0.0] * len(readers)
        for users in on_machine.values():
            parts = max_min([demand * away for _, demand, away in users], self._path)
            for (i, demand, away), part in zip(users, parts, strict=True):
                rate = demand if away <= 0 else min(demand, part / away)
                usable[i] += rate
                remote[i] += rate * away
        for reader, rate, over_network in zip(readers, usable, remote, strict=True):
            reader.progress.bandwidth = rate
            reader.progress.remote_share = over_network / rate if rate else 0.0

    def _local(self, reader: Reader, node: str) -> float:
        places = self._inputs[input_of(reader.progress.arrival)]
        return places.hosts.get(node, InputObjects()).bytes / places.listed.bytes
