"""Executions of one tenant have claims of their own: guarantees first, and one tenant's share for all of them."""

from __future__ import annotations

import pytest

from storage_bridge.bandwidth.assignment import Capacity, ClaimKey, TransferClaim, TransferKind, assign, claimant
from storage_bridge.bandwidth.meter import Meter, TransferProgress
from storage_bridge.bandwidth.regulator import RateRegulator, RateSettings

MB = 10**6
EPOCH_S = 0.25
NODE = frozenset({"n"})
X1, X2 = claimant("acme", "x1"), claimant("acme", "x2")
ROOM = Capacity(20 * MB, {"n": 20 * MB})


def claim(name: str, slo: int | None = None, demand: int | None = None) -> TransferClaim:
    return TransferClaim(name, NODE, slo, demand)


def totals(*claims: TransferClaim, capacity: Capacity = ROOM) -> dict[str, int]:
    assignment = assign(claims, capacity, 0)
    return {claim.tenant: assignment.total(claim.tenant) for claim in claims}


def test_spare_bandwidth_is_shared_by_tenants_however_many_executions_they_have() -> None:
    shared = totals(claim(X1), claim(X2), claim("acme"), claim("beta"))
    assert shared["beta"] == 10 * MB
    assert {shared[X1], shared[X2], shared["acme"]} <= {10 * MB // 3, 10 * MB // 3 + 1}


def test_a_guarantee_comes_before_shares() -> None:
    shared = totals(claim(X1, 10 * MB), claim(X2), claim("beta"))
    assert shared == {X1: 12.5 * MB, X2: 2.5 * MB, "beta": 5 * MB}


def test_bandwidth_unused_by_small_executions_stays_with_their_tenant() -> None:
    small = [claim(claimant("acme", f"s{number}"), None, MB // 10) for number in range(9)]
    shared = totals(claim(X1), *small, claim("beta"))
    assert shared[X1] == pytest.approx(shared["beta"], rel=0.15)


def test_where_slos_do_not_fit_executions_get_theirs_from_the_rest_of_their_tenant() -> None:
    shared = totals(claim(X1, 15 * MB), claim("acme", 15 * MB), claim("beta", 10 * MB))
    assert shared == {X1: 15 * MB, "acme": 0, "beta": 5 * MB}
    assignment = assign([claim(X1, 15 * MB), claim("acme", 15 * MB)], ROOM, 0)
    assert assignment.missed == {("acme", TransferKind.READ): 10 * MB}


def test_unused_guarantee_is_lent_and_returned_within_a_second() -> None:
    """The meter, the regulator, and users with a demand and a limit, in epochs of a quarter of a second."""
    regulator, meter = RateRegulator(ROOM, RateSettings()), Meter("n")
    slos: dict[ClaimKey, int] = {(X1, TransferKind.READ): 10 * MB}
    wants = {X1: 20 * MB, X2: 20 * MB, "acme": 20 * MB}
    history: list[dict[str, float]] = []

    def run(seconds: float) -> None:
        for _ in range(round(seconds / EPOCH_S)):
            now_s = len(history) * EPOCH_S
            limits = {key[0]: rate for (key, _), rate in regulator.limits.items()}
            rates = {name: min(want, limits.get(name, 20 * MB / 3)) for name, want in wants.items()}
            history.append(rates)
            moved = {(name, TransferKind.READ): int(rate * EPOCH_S) for name, rate in rates.items()}
            waiting = frozenset((name, TransferKind.READ) for name, want in wants.items() if want > rates[name])
            regulator.epoch(now_s, [meter.add(TransferProgress(EPOCH_S, moved, waiting), now_s)], slos)

    run(3.0)
    assert history[-1][X1] > 13 * MB
    wants[X1] = MB
    run(8.0)
    assert history[-1][X1] == MB
    assert history[-1][X2] + history[-1]["acme"] > 18 * MB, "unused bandwidth is lent"
    wants[X1] = 20 * MB
    run(1.0)
    assert history[-1][X1] >= 10 * MB, [round(entry[X1] / MB, 2) for entry in history[-4:]]
    assert sum(history[-1].values()) <= 20 * MB
