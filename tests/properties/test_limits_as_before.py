"""Limits decide what they did while tenants had quotas and the policy had limits of its own.

`limits_as_before.json` was recorded then: digests of plans, with their sentences, under random limits of tenants, of
their users and of bandwidth. The policies are read from JSON, as journals of that time have them.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.applications import GIB
from tests.support.same_as_before import digest
from tests.support.snapshots import random_snapshot, varied
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.promises import Rates, Supply
from zoe_lib.domain.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.store.codec import decode, encode
from zoe_master.scheduler.cycle import schedule

FILE = Path(__file__).with_name("limits_as_before.json")
SEEDS = 400
PER_CASE = 100
MB = 10**6


def plan_of(seed: int) -> str:
    """The digest of a plan, with why each waits, in words."""
    chance = random.Random(f"limits {seed}")
    snapshot, policy = varied(*random_snapshot(chance), chance)
    snapshot = replace(
        snapshot,
        queued=tuple(somebodys(one, chance) for one in snapshot.queued),
        active=tuple(somebodys(one, chance) for one in snapshot.active),
        storage=chance.choice([None, Supply(Rates(100 * MB, 100 * MB))]),
    )
    plan = schedule(snapshot, decode(Policy, {**encode(policy), **limits(chance)}))
    reasons = {one: [why.code, why.sentence, why.hint] for one, why in plan.reasons.items()}
    places = [encode(one) for one in (plan.starts, plan.elastic, plan.reserved, plan.preempt)]
    return digest([places, reasons])


def limits(chance: random.Random) -> dict[str, Any]:
    """Of the policy, as it had them: an entry has all its amounts, null is no limit, and `*` stands for all others."""

    def amount(*some: int) -> int | None:
        return chance.choice([None, *some])

    def of_user() -> dict[str, int | None]:
        return {"cores_milli": amount(1000, 3000, 5000), "memory_bytes": amount(2 * GIB, 6 * GIB)}

    def of_tenant() -> dict[str, int | None]:
        rates = {"read_bytes_per_s": amount(20 * MB, 50 * MB), "write_bytes_per_s": amount(20 * MB)}
        return {"cores_milli": amount(2000, 5000), "memory_bytes": amount(4 * GIB, 8 * GIB), **rates}

    def some(make: Any) -> dict[str, Any]:
        return {tenant: make() for tenant in ("*", "a", "b") if chance.random() < 0.4}

    return {"tenant_limits": some(of_tenant), "user_limits": some(of_user)}


def somebodys(execution: Execution, chance: random.Random) -> Execution:
    rate = chance.choice([None, None, 10 * MB, 30 * MB, 60 * MB])
    wish = Bandwidth(rate, chance.choice([None, rate]), Guarantee.REQUIRED)
    storage = None if rate is None else StorageDemand(bandwidth=wish)
    return replace(
        execution,
        user=chance.choice(["ada", "eve"]),
        application=replace(execution.application, storage=storage),
    )


@pytest.mark.parametrize("first_seed", range(0, SEEDS, PER_CASE))
def test_plans_are_what_they_were(first_seed: int) -> None:
    seeds = range(first_seed, first_seed + PER_CASE)
    recorded = json.loads(FILE.read_text())
    assert [seed for seed in seeds if plan_of(seed) != recorded[seed]] == []


if __name__ == "__main__":
    FILE.write_text(json.dumps([plan_of(seed) for seed in range(SEEDS)], indent=0) + "\n")
