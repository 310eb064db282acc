"""The rate of replication beside tenants: the bandwidth algorithm on the disks of the object servers. Pure.

Replication is one more claim (`storage_bridge/bandwidth/assignment.py`), which passes no proxy. The guarantees of
active tenants come first, then the least rate of replication as its guarantee, then the rest in equal shares. Reads
load the disks once, writes as often as there are replicas. The places of objects are unknown here, so the bytes at the
proxies count as spread evenly over the object servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage_bridge.bandwidth.assignment import Capacity, TransferClaim, TransferKind, assign

_DISKS = "disks"
_NAME = ""  # no tenant has it
_FLOOR = 64 * 1024
RISE_S = 20.0
"""Seconds in which the rate rises from zero to all that disks can move; it falls at once."""
_REST = 0.05
"""Least rise of a rate, as a share of the disks' bandwidth, so that it settles beside tenants that vary."""


@dataclass(frozen=True, slots=True)
class Disks:
    """Disks that replication shares with tenants. servers: number of object servers; bytes_per_s: of each, for all
    traffic; replicas: of an object; least: guaranteed bytes per second of replication at each.
    """

    servers: int
    bytes_per_s: int
    replicas: int
    least: int


def spare(disks: Disks, claims: Sequence[TransferClaim]) -> int:
    """Return bytes per second for each object server. claims: of tenants, at the proxies."""
    total = disks.servers * disks.bytes_per_s
    least = disks.servers * disks.least
    here = frozenset((_DISKS,))
    own = TransferClaim(_NAME, here, least, None, TransferKind.REPLICATION)
    found = assign(
        [own, *(_on_disks(claim, disks.replicas) for claim in claims)], Capacity(total, {_DISKS: total}), _FLOOR
    )
    # If guarantees leave less than the least rate, it comes before them: otherwise a lost replica would stay lost.
    return max(found.rates[own.key][_DISKS] // disks.servers, disks.least)


def _on_disks(claim: TransferClaim, replicas: int) -> TransferClaim:
    times = replicas if claim.traffic is TransferKind.WRITE else 1
    slo = None if claim.slo is None else claim.slo * times
    demand = None if claim.demand is None else claim.demand * times
    return replace(claim, nodes=frozenset((_DISKS,) if claim.nodes else ()), slo=slo, demand=demand)


def steady(disks: Disks, before: int | None, wanted: int, passed_s: float) -> int:
    """Return the next rate: down at once, for the guarantees; up slowly, and only for a significant change."""
    if before is None or wanted <= before:
        return wanted
    if wanted - before < _REST * disks.bytes_per_s:
        return before
    return min(wanted, before + int(disks.bytes_per_s * passed_s / RISE_S))
