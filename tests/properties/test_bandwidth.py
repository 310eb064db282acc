"""Bandwidth for any promises and transfers: no limit below zero or beyond a capacity, no tenant starved, SLOs met,
spare used up.

Feasibility is judged by its definition, independent of the algorithm: every group of claims must find room in the nodes
with its transfers, and the part through the proxies also there (Hall's condition, over all groups: for a group of nodes
it is enough to look at the largest group of claims).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

import pytest

from storage_bridge.bandwidth.assignment import (
    BandwidthAssignment,
    Capacity,
    ClaimKey,
    TransferClaim,
    TransferKind,
    assign,
)

CHECKS = 10_000
PER_CASE = 500
MB = 1_000_000


def random_case(chance: random.Random) -> tuple[list[TransferClaim], Capacity, int]:
    """Few and tight: promises of about what the proxies and the disks can move."""
    unit = chance.choice([1, 1000, MB])
    nodes = {f"n{i}": chance.randint(30, 120) * unit for i in range(chance.randint(1, 4))}
    proxy = chance.choice([sum(nodes.values()), sum(nodes.values()) // 2, chance.randint(40, 300) * unit])
    claims = []
    for number in range(chance.randint(0, 5)):
        on = frozenset(name for name in nodes if chance.random() < 0.6)
        slo = chance.choice([None, None, 0, chance.randint(1, 100) * unit])
        demand = chance.choice([None, None, None, chance.randint(10, 80) * unit])
        traffic = chance.choice([TransferKind.READ, TransferKind.READ, TransferKind.WRITE, TransferKind.REPLICATION])
        claims.append(
            TransferClaim(f"t{number // 2 if traffic is TransferKind.WRITE else number}", on, slo, demand, traffic)
        )
    unique = {claim.key: claim for claim in claims}
    return list(unique.values()), Capacity(proxy, nodes), chance.choice([0, 1, unit, 5 * unit])


def fits(totals: Mapping[ClaimKey, int], claims: Sequence[TransferClaim], capacity: Capacity) -> bool:
    """For any group of nodes, with the proxies or without: whatever must pass there has room there."""
    wanted = [
        (max(totals[claim.key], 0), claim.nodes, claim.traffic is not TransferKind.REPLICATION) for claim in claims
    ]
    sizes = range(len(capacity.nodes) + 1)
    for nodes in map(frozenset, chain.from_iterable(combinations(capacity.nodes, size) for size in sizes)):
        room = sum(capacity.nodes[node] for node in nodes)
        if sum(asked for asked, on, _ in wanted if on <= nodes) > room:
            return False
        if sum(asked for asked, on, proxied in wanted if proxied or on <= nodes) > room + capacity.proxy:
            return False
    return True


def check(claims: Sequence[TransferClaim], capacity: Capacity, floor: int, answer: BandwidthAssignment) -> None:
    active = [claim for claim in claims if claim.nodes]
    assert answer.rates.keys() == {claim.key for claim in active}
    totals = {key: sum(rates.values()) for key, rates in answer.rates.items()}
    for claim in active:
        assert answer.rates[claim.key].keys() == claim.nodes
        assert min(answer.rates[claim.key].values()) >= 0, "below zero"
        if floor:
            assert min(answer.rates[claim.key].values()) > 0, "starved"
    for node, room in capacity.nodes.items():
        assert sum(rates.get(node, 0) for rates in answer.rates.values()) <= room, f"{node} beyond its capacity"
    through = sum(totals[claim.key] for claim in active if claim.traffic is not TransferKind.REPLICATION)
    assert through <= capacity.proxy, "proxies beyond their capacity"
    owed = {c.key: min(c.slo or 0, c.slo or 0 if c.demand is None else c.demand) for c in active}
    missed = {key: owed[key] - totals[key] for key in owed if owed[key] > totals[key]}
    assert answer.missed == missed, "the reported misses are wrong"
    least = floor_of_all(active, capacity, floor)
    above = {c.key: max(owed[c.key] - least * len(c.nodes), 0) for c in active}
    if fits(above, active, without_floor(active, capacity, least)):
        assert not missed, "a feasible SLO is missed"
    _check_spare(active, capacity, totals, least)


def floor_of_all(active: Sequence[TransferClaim], capacity: Capacity, floor: int) -> int:
    """Return what every transfer can have of the floor."""
    through = sum(len(c.nodes) for c in active if c.traffic is not TransferKind.REPLICATION)
    shares = [room // sum(n in c.nodes for c in active) for n, room in capacity.nodes.items() if _used(n, active)]
    return min([floor, *shares, *([capacity.proxy // through] if through else [])])


def without_floor(active: Sequence[TransferClaim], capacity: Capacity, least: int) -> Capacity:
    """Return the rest to share once every transfer has the floor."""
    return Capacity(
        capacity.proxy - least * sum(len(c.nodes) for c in active if c.traffic is not TransferKind.REPLICATION),
        {node: room - least * sum(node in c.nodes for c in active) for node, room in capacity.nodes.items()},
    )


def _used(node: str, active: Sequence[TransferClaim]) -> bool:
    return any(node in claim.nodes for claim in active)


def _check_spare(
    active: Sequence[TransferClaim], capacity: Capacity, totals: Mapping[ClaimKey, int], least: int
) -> None:
    """No claim that wants more could get more than the rounding, which is less than a byte per second for each
    claim.
    """
    without = without_floor(active, capacity, least)
    above = {c.key: totals[c.key] - least * len(c.nodes) for c in active}
    slack = 2 * len(active)
    for claim in active:
        if claim.demand is None or totals[claim.key] + slack < claim.demand:
            more = {**above, claim.key: above[claim.key] + slack}
            assert not fits(more, active, without), f"spare is left that {claim.key} could use"


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_bandwidth_is_shared_as_promised(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        claims, capacity, floor = random_case(random.Random(seed))
        answer = assign(claims, capacity, floor)
        try:
            check(claims, capacity, floor, answer)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        assert answer == assign(claims[::-1], capacity, floor), f"seed {seed}: the sequence of claims matters"


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_elastic_services_that_want_more_take_spare_only(first_seed: int) -> None:
    """One tenant's elastic services come and can use any amount: no promise is met less for that."""
    for seed in range(first_seed, first_seed + PER_CASE):
        chance = random.Random(seed)
        claims, capacity, floor = random_case(chance)
        active = [claim for claim in claims if claim.nodes]
        if not active:
            continue
        # What its cores alone can use is more than is promised: what elastic ones add is beyond the promise.
        grows = replace(chance.choice(active), demand=None)
        cores = replace(grows, demand=(grows.slo or 0) + capacity.proxy // 10)
        others = [claim for claim in claims if claim.key != grows.key]
        without, beside = (assign([*others, claim], capacity, floor) for claim in (cores, grows))
        assert beside.missed == without.missed, f"seed {seed}: a promise is missed for the sake of elastic services"
        for claim in others:
            owed = min(claim.slo or 0, claim.slo or 0 if claim.demand is None else claim.demand)
            had, has = (sum(assignment.rates.get(claim.key, {}).values()) for assignment in (without, beside))
            assert has >= min(owed, had), f"seed {seed}: {claim.key} has {has} of {owed}"
