"""Where bandwidth is held: at the proxies, or at the object servers, which count each replica that they store. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from storage_bridge.bandwidth.assignment import Capacity, ClaimKey, TransferKind


@dataclass(frozen=True, slots=True)
class HeldPlaces:
    """Without nodes, the proxies hold bandwidth. proxies, nodes: bytes per second of each, by name. replicas: how often
    an object is stored. further: object servers that report and hold nothing back.
    """

    proxies: Mapping[str, int]
    nodes: Mapping[str, int] = field(default_factory=dict)
    replicas: int = 1
    further: frozenset[str] = frozenset()

    @property
    def capacity(self) -> Capacity:
        """Return what the algorithm shares. At the object servers, no proxy limits it."""
        by_name = self.nodes or self.proxies
        return Capacity(sum(by_name.values()), by_name)

    @property
    def object_servers(self) -> frozenset[str]:
        """Return the names of all object servers that may report."""
        return frozenset(self.nodes) | self.further

    @property
    def copies(self) -> int:
        """Return how often what a client writes passes where bandwidth is held."""
        return self.replicas if self.nodes else 1

    def held(self, slos: Mapping[ClaimKey, int]) -> dict[ClaimKey, int]:
        """Return promises to clients as the bytes per second that pass where bandwidth is held."""
        return {key: rate * self._times(key[1]) for key, rate in slos.items()}

    def seen(self, amount: int, traffic: TransferKind) -> int:
        """Return bytes of clients, of those that pass where bandwidth is held."""
        return amount // self._times(traffic)

    def _times(self, traffic: TransferKind) -> int:
        return self.copies if traffic is TransferKind.WRITE else 1
