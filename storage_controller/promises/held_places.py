"""The servers that enforce bandwidth: the proxies, or the object servers, which count each stored replica. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from storage_bridge.bandwidth.assignment import Capacity, ClaimKey, TransferKind


@dataclass(frozen=True, slots=True)
class EnforcingServers:
    """Servers that enforce bandwidth: the proxies, unless nodes are given. proxies, nodes: bytes per second of each, by
    name. replicas: of an object. further: object servers that report and enforce nothing.
    """

    proxies: Mapping[str, int]
    nodes: Mapping[str, int] = field(default_factory=dict)
    replicas: int = 1
    further: frozenset[str] = frozenset()

    @property
    def capacity(self) -> Capacity:
        """Return the capacity that the algorithm shares. If the object servers enforce it, no proxy limits it."""
        by_name = self.nodes or self.proxies
        return Capacity(sum(by_name.values()), by_name)

    @property
    def object_servers(self) -> frozenset[str]:
        """Return the names of all object servers that may report."""
        return frozenset(self.nodes) | self.further

    @property
    def copies(self) -> int:
        """Return how often a client's written bytes pass the enforcing servers."""
        return self.replicas if self.nodes else 1

    def server_rates(self, slos: Mapping[ClaimKey, int]) -> dict[ClaimKey, int]:
        """Convert guarantees to clients to bytes per second at the enforcing servers."""
        return {key: rate * self._times(key[1]) for key, rate in slos.items()}

    def client_bytes(self, amount: int, traffic: TransferKind) -> int:
        """Convert bytes at the enforcing servers to bytes of clients."""
        return amount // self._times(traffic)

    def _times(self, traffic: TransferKind) -> int:
        return self.copies if traffic is TransferKind.WRITE else 1
