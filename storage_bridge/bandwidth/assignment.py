"""Assign bandwidth: how many bytes per second each tenant may move through each node.

A cleaned-up form of Algorithm 1 of the IOStack toolkit (bandwidth differentiation in Crystal): unused bandwidth is
promised to no tenant; a floor keeps every transfer alive; then come SLOs, scaled by the largest common fraction if they
do not all fit; then the rest in equal shares. Pure and deterministic; whole bytes per second.

An execution of a tenant can have a separate claim, under the name `tenant/execution`. Its SLO is its guarantee, which
comes before the SLO of the rest of its tenant; equal shares are between tenants, and the claims of a tenant divide its
share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from storage_bridge.bandwidth.fairness import raise_fairly
from storage_bridge.bandwidth.network import BandwidthNetwork, Path


class TransferKind(StrEnum):
    """Kind of transfers: all share the disks, but replication does not pass the proxies."""

    READ = "read"
    WRITE = "write"
    REPLICATION = "replication"


# Tenant, or execution of one, and kind of traffic, which have separate limits.
ClaimKey = tuple[str, TransferKind]
_EXECUTION = "/"


def claimant(tenant: str, execution: str) -> str:
    """Return the name under which an execution of a tenant claims bandwidth."""
    return f"{tenant}{_EXECUTION}{execution}"


def tenant_of(name: str) -> str:
    """Return the tenant of a claim's name."""
    return name.partition(_EXECUTION)[0]


def execution_of(name: str) -> str:
    """Return the execution of a claim's name; empty for the rest of a tenant."""
    return name.partition(_EXECUTION)[2]


@dataclass(frozen=True, slots=True)
class TransferClaim:
    """One tenant's or execution's present transfers of one kind.

    slo: guaranteed bytes per second; None and 0 both guarantee nothing. demand: the most that it can use, as measured;
    None: no limit. Its share of the floor does not depend on these.
    """

    tenant: str
    nodes: frozenset[str]
    slo: int | None = None
    demand: int | None = None
    traffic: TransferKind = TransferKind.READ

    @property
    def key(self) -> ClaimKey:
        """Return the key of its part of the result."""
        return self.tenant, self.traffic


@dataclass(frozen=True, slots=True)
class Capacity:
    """Bytes per second of all proxies together, and of each node's disks for all traffic."""

    proxy: int
    nodes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BandwidthAssignment:
    """Bytes per second by claim and node, and the missing amounts of SLOs that cannot be met."""

    rates: Mapping[ClaimKey, Mapping[str, int]]
    missed: Mapping[ClaimKey, int]

    def total(self, tenant: str, traffic: TransferKind = TransferKind.READ) -> int:
        """Return the total for a tenant's transfers of one kind."""
        return sum(self.rates.get((tenant, traffic), {}).values())


def assign(claims: Sequence[TransferClaim], capacity: Capacity, floor: int) -> BandwidthAssignment:
    """Share the capacity among claims with transfers; `floor` bytes per second keep each (claim, node) alive.

    Raises ValueError for a negative figure, an unknown node, or a duplicate claim.
    """
    _check(claims, capacity, floor)
    active = sorted((claim for claim in claims if claim.nodes), key=lambda claim: claim.key)
    if not active:
        return BandwidthAssignment({}, {})
    names = sorted(capacity.nodes)
    paths = [_path(claim, names) for claim in active]
    floor_kept = _liveness(active, capacity, floor)
    network = _without_floor(capacity, names, paths, floor_kept)
    floors = [floor_kept * len(claim.nodes) for claim in active]
    nothing = [0] * len(active)
    wants = [max(_usable_guarantee(claim) - least, 0) for claim, least in zip(active, floors, strict=True)]
    promised = raise_fairly(network, nothing, wants, [Fraction(want) for want in wants])
    promised = _guarantees_first(network, active, wants, promised)
    most = [_most(claim, capacity, least) for claim, least in zip(active, floors, strict=True)]
    headroom = [max(limit - has, 0) for limit, has in zip(most, promised, strict=True)]
    spare = raise_fairly(network, promised, headroom, _weights(active))
    if any(execution_of(claim.tenant) for claim in active):
        hungry = [more < limit for more, limit in zip(spare, headroom, strict=True)]
        spare = raise_fairly(network, promised, headroom, _weights(active, hungry))
    totals = [has + more for has, more in zip(promised, spare, strict=True)]
    rates = {
        claim.key: {names[node]: floor_kept + part for node, part in zip(path.nodes, parts, strict=True)}
        for claim, path, parts in zip(active, paths, network.split(totals), strict=True)
    }
    missing = {c.key: _usable_guarantee(c) - sum(rates[c.key].values()) for c in active}
    return BandwidthAssignment(rates, {key: amount for key, amount in missing.items() if amount > 0})


def _usable_guarantee(claim: TransferClaim) -> int:
    """Return the guarantee in use now: at most what the tenant can use."""
    slo = claim.slo or 0
    return slo if claim.demand is None else min(slo, claim.demand)


def _most(claim: TransferClaim, capacity: Capacity, floor: int) -> int:
    nodes = sum(capacity.nodes[name] for name in claim.nodes)
    return nodes if claim.demand is None else min(max(claim.demand - floor, 0), nodes)


def _weights(active: Sequence[TransferClaim], hungry: Sequence[bool] | None = None) -> list[Fraction]:
    """Return the weights of claims. Tenants share equally, so a tenant that reads and writes has half a share for each.

    hungry: which claims can use more than their part. Those of one tenant divide its share, so that many executions
    with little to move do not cost their tenant its share.
    """
    every = hungry or [True] * len(active)
    kinds = Counter(tenant_of(claim.tenant) for claim, counts in zip(active, every, strict=True) if counts)
    return [Fraction(1, max(kinds[tenant_of(claim.tenant)], 1)) for claim in active]


def _guarantees_first(
    network: BandwidthNetwork, active: Sequence[TransferClaim], wants: Sequence[int], promised: Sequence[int]
) -> list[int]:
    """If SLOs do not fit, give executions the amount of the rest of their tenant, as far as paths allow."""
    amounts = list(promised)
    rest = {claim.key: i for i, claim in enumerate(active) if not execution_of(claim.tenant)}
    for i, claim in enumerate(active):
        giver = rest.get((tenant_of(claim.tenant), claim.traffic), i)
        moved = min(wants[i] - amounts[i], amounts[giver])
        if giver == i or moved <= 0:
            continue
        changed = list(amounts)
        changed[i], changed[giver] = amounts[i] + moved, amounts[giver] - moved
        if network.tightest(changed) is None:
            amounts = changed
    return amounts


def _liveness(active: Sequence[TransferClaim], capacity: Capacity, floor: int) -> int:
    """Return the floor that all claims can have."""
    here = Counter(node for claim in active for node in claim.nodes)
    through = sum(len(claim.nodes) for claim in active if claim.traffic is not TransferKind.REPLICATION)
    least = min(capacity.nodes[node] // count for node, count in here.items())
    return min(floor, least, capacity.proxy // through) if through else min(floor, least)


def _without_floor(capacity: Capacity, names: Sequence[str], paths: Sequence[Path], kept: int) -> BandwidthNetwork:
    slots = Counter(node for path in paths for node in path.nodes)
    through = sum(len(path.nodes) for path in paths if path.through_proxy)
    nodes = [capacity.nodes[name] - kept * slots[i] for i, name in enumerate(names)]
    return BandwidthNetwork(capacity.proxy - kept * through, nodes, paths)


def _path(claim: TransferClaim, names: Sequence[str]) -> Path:
    nodes = tuple(i for i, name in enumerate(names) if name in claim.nodes)
    return Path(nodes, claim.traffic is not TransferKind.REPLICATION)


def _check(claims: Sequence[TransferClaim], capacity: Capacity, floor: int) -> None:
    figures = [capacity.proxy, floor, *capacity.nodes.values()]
    figures += [figure for claim in claims for figure in (claim.slo, claim.demand) if figure is not None]
    if min(figures) < 0:
        raise ValueError("bytes per second cannot be negative")
    unknown = {node for claim in claims for node in claim.nodes} - capacity.nodes.keys()
    if unknown:
        raise ValueError(f"nodes without a capacity: {', '.join(sorted(unknown))}")
    twice = [key for key, count in Counter(claim.key for claim in claims).items() if count > 1]
    if twice:
        raise ValueError(f"claimed twice: {twice[0]}")
