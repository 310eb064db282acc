"""A policy that the API accepts, however extreme its numbers, never ends a pass of the scheduler.

An exception in a pass ends the master, and every master that reads the policy after it.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.checks import CHECKS
from tests.support.snapshots import PER_CASE, random_snapshot, varied
from zoe_api.access.wire_forms import policy_of
from zoe_client.wire.cluster.policy import PolicyView
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import BACKFILLS, ORDERS, TENANCIES, Policy
from zoe_lib.store.documents.codec import encode
from zoe_master.scheduler.cycle import schedule
from zoe_master.state.forecasts import ForecastRecord, forecast

SCHEMA = PolicyView.model_json_schema()["properties"]
NUMBERS = sorted(name for name, field in SCHEMA.items() if field.get("type") in ("integer", "number"))

EXTREMES: dict[str, tuple[int | float, ...]] = {
    "integer": (-1, 0, 1, 2**31, 2**53, 2**63, 10**30),
    "number": (-1e308, -1.0, 0.0, sys.float_info.min, 5e-324, 1.0, 1e15, 1e300, sys.float_info.max),
}


def accepted(document: dict[str, Any]) -> Policy | None:
    """Return the policy of a document, None where the API refuses it."""
    try:
        return policy_of(PolicyView.model_validate(document))
    except ValidationError:
        return None


def random_document(chance: random.Random) -> dict[str, Any]:
    """Return a policy with up to four extreme numbers, and extreme weights and shares."""
    names = chance.sample(NUMBERS, chance.randint(1, 4))
    numbers = {name: chance.choice(EXTREMES[SCHEMA[name]["type"]]) for name in names}
    weight = chance.choice(EXTREMES["number"])
    return {
        "order": chance.choice(sorted(ORDERS)),
        "backfill": chance.choice(sorted(BACKFILLS)),
        "tenants": chance.choice(sorted(TENANCIES)),
        "filters": list(Policy().filters),
        "weighers": {"fewest_containers": weight, "free_memory": chance.choice(EXTREMES["number"])},
        "tenant_shares": {
            tenant: chance.choice(EXTREMES["number"]) for tenant in chance.sample("abc", chance.randint(0, 2))
        },
        "tenant_limits": {"*": {"cores_milli": chance.choice(EXTREMES["integer"])}} if chance.random() < 0.5 else {},
        "user_limits": {"*/*": {"memory_bytes": chance.choice(EXTREMES["integer"])}} if chance.random() < 0.5 else {},
        **numbers,
    }


@pytest.mark.parametrize("name", NUMBERS)
def test_one_extreme_number_ends_no_pass(name: str) -> None:
    chance = random.Random(name)
    for number in EXTREMES[SCHEMA[name]["type"]]:
        for backfill in sorted(BACKFILLS):
            document = {"filters": list(Policy().filters), "backfill": backfill, name: number}
            if (policy := accepted(document)) is not None:
                schedule(varied(*random_snapshot(chance), chance)[0], policy)


@pytest.mark.parametrize("share", [1e-15, 1.0, 1e15])
@pytest.mark.parametrize(("order", "tenants"), [("fair-share", "none"), ("fair-share", "drf"), ("size", "drf")])
def test_the_widest_shares_end_no_pass(share: float, order: str, tenants: str) -> None:
    chance = random.Random(f"{share} {order} {tenants}")
    for _ in range(50):
        document = {"tenant_shares": {"a": share, "b": 1e-15, "c": 1e15}, "order": order, "tenants": tenants}
        policy = accepted({"filters": list(Policy().filters), **document})
        assert policy is not None
        snapshot = varied(*random_snapshot(chance), chance)[0]
        schedule(replace(snapshot, used={"a": chance.choice(EXTREMES["number"][2:]), "b": 1.0}), policy)


@pytest.mark.parametrize("until_s", [11.0, 1e10, 1e17, 1e300, sys.float_info.max])
@pytest.mark.parametrize("backfill", sorted(BACKFILLS))
def test_forecasts_can_be_kept_however_long_nodes_are_held(until_s: float, backfill: str) -> None:
    """Also beside holds that were stored when the API still accepted them."""
    chance, policy = random.Random(backfill), Policy(backfill=backfill)
    for _ in range(40):
        snapshot = random_snapshot(chance)[0]
        held = tuple(replace(node, holds=(NodeHold(until_s=until_s),)) for node in snapshot.nodes)
        for execution in snapshot.queued:
            told = forecast(replace(snapshot, nodes=held), policy, execution.id, ForecastRecord())
            json.dumps(encode(told), allow_nan=False)


@pytest.mark.parametrize("time_s", [-1, 253_402_300_800, 1e308])
@pytest.mark.parametrize("end", ["since_s", "until_s"])
def test_a_hold_ends_within_the_years_that_dates_have(end: str, time_s: float) -> None:
    assert accepted({"filters": list(Policy().filters), "node_holds": {"n1": {end: time_s}}}) is None


@pytest.mark.parametrize("case", range(max(1, CHECKS // PER_CASE)))
def test_many_extreme_numbers_end_no_pass(case: int) -> None:
    chance = random.Random(case)
    for _ in range(PER_CASE):
        if (policy := accepted(random_document(chance))) is not None:
            schedule(varied(*random_snapshot(chance), chance)[0], policy)
