"""How fast replication may be beside tenants: Algorithm 1 on the disks of the object servers. Pure.

Replication is one more claim (`storage_bridge/bandwidth/assignment.py`), which passes no proxy. What is promised to
tenants that move bytes comes first, then its least rate as its own promise, then the rest in equal shares. Reads load
the disks once, writes as often as there are replicas. Where objects lie is not known here, so what passes the proxies
counts as spread evenly over the object servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage_bridge.bandwidth.assignment import Capacity, TransferClaim, TransferKind, assign

_DISKS = "disks"
_NAME = ""  # no tenant has it
_FLOOR = 64 * 1024
RISE_S = 20.0
"""In how many seconds the rate rises from nothing to all that disks can move; it falls at once."""
_REST = 0.05
"""What share of the disks' bandwidth a rate has to rise by, so that it comes to rest beside tenants that vary."""


@dataclass(frozen=True, slots=True)
class Disks:
    """What replication shares with tenants. servers: how many object servers; bytes_per_s: of each, for all traffic;
    replicas: of an object; least: bytes per second that replication has at each, whatever is promised.
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
    found = assign([own, *(_on_disks(one, disks.replicas) for one in claims)], Capacity(total, {_DISKS: total}), _FLOOR)
    # Where promises leave less than the least rate, it comes before them: else a lost replica would stay lost.
    return max(found.rates[own.key][_DISKS] // disks.servers, disks.least)


def _on_disks(claim: TransferClaim, replicas: int) -> TransferClaim:
    times = replicas if claim.traffic is TransferKind.WRITE else 1
    slo = None if claim.slo is None else claim.slo * times
    demand = None if claim.demand is None else claim.demand * times
    return replace(claim, nodes=frozenset((_DISKS,) if claim.nodes else ()), slo=slo, demand=demand)


def steady(disks: Disks, before: int | None, wanted: int, passed_s: float) -> int:
    """Return the next rate: down at once, so that promises are kept; up slowly, and only for a change that counts."""
    if before is None or wanted <= before:
        return wanted
    if wanted - before < _REST * disks.bytes_per_s:
        return before
    return min(wanted, before + int(disks.bytes_per_s * passed_s / RISE_S))
