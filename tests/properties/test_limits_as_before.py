"""Limits decide the same as when tenants had quotas and the policy had limits of its own.

`limits_as_before.json` was recorded then: digests of plans, with their sentences, under random limits of tenants, of
their users and of bandwidth. The policies are read from JSON, as journals of that time have them. Five digests were
recorded anew when executions behind the first waiting one got their own lasting reasons, and two more when mixed cores
did; nothing else changed in them.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.applications import GIB, application, execution
from tests.support.limits import Quota, set_quota
from tests.support.same_as_before import digest
from tests.support.snapshots import random_snapshot, varied
from zoe_client.words.amounts import count_with_noun
from zoe_lib.domain.cluster.policy import Policy, with_limits
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.limits import EVERY, Amounts, LimitSubject
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.errors import QuotaExceeded, TimeLimitTooLong
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.scheduler.cycle import schedule

FILE = Path(__file__).with_name("limits_as_before.json")
SEEDS = 400
PER_CASE = 100
MB = 10**6
# Sentences that were reworded since, with their earlier words.
FORMER_HINTS = {
    "it starts when a storage controller can guarantee it; with `preferred` it would not wait": "it starts when enough "
    "executions with guaranteed bandwidth have ended; with `preferred` it would not wait",
}


def plan_of(seed: int, beside: Amounts | None = None) -> str:
    """The digest of a plan, with why each waits, in words; `beside`: amounts that are set, too."""
    chance = random.Random(f"limits {seed}")
    snapshot, policy = varied(*random_snapshot(chance), chance)
    snapshot = replace(
        snapshot,
        queued=tuple(somebodys(execution, chance) for execution in snapshot.queued),
        active=tuple(somebodys(execution, chance) for execution in snapshot.active),
        storage=chance.choice([None, BandwidthSupply(Rates(100 * MB, 100 * MB))]),
    )
    policy = decode(Policy, {**encode(policy), **limits(chance)})
    if beside is not None:
        both = policy.limits
        for subject in (
            LimitSubject(),
            LimitSubject("a"),
            LimitSubject("b"),
            LimitSubject("a", EVERY),
            LimitSubject(EVERY, EVERY),
        ):
            both = both.with_changed_amounts(subject, beside)
        assert both.can_delay_executions() == policy.limits.can_delay_executions()
        policy = with_limits(policy, both)
    plan = schedule(snapshot, policy)
    reasons = {
        text: [why.code, why.sentence, FORMER_HINTS.get(why.hint, why.hint)] for text, why in plan.reasons.items()
    }
    places = [encode(mapping) for mapping in (plan.starts, plan.elastic, plan.reserved, plan.preempt)]
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


def test_limits_that_refuse_submissions_change_no_plan() -> None:
    recorded = json.loads(FILE.read_text())
    beside = {"executions": 0, "time_limit_s": 1.0}
    assert [seed for seed in range(PER_CASE) if plan_of(seed, beside) != recorded[seed]] == []


@dataclass(frozen=True)
class OldQuota:
    """The quota of a tenant, as it was."""

    executions_max: int | None = None
    executions_of_user_max: int | None = None
    time_limit_s_max: float | None = None


def old_answer(one: Execution, quota: OldQuota, executions: int, executions_of_user: int) -> str | Execution:
    """Return the quota's answer to a submission: the words of its refusal, or the stored execution."""
    asked_s, longest_s, notes = one.application.time_limit_s, quota.time_limit_s_max, one.notes
    if longest_s is not None and asked_s is not None and asked_s > longest_s:
        asked, longest = (f"{s:.15g} s ({s / 3600:.6g} h)" for s in (asked_s, longest_s))
        return f"the time limit is {asked}; the maximum for {one.tenant} is {longest}"
    if longest_s is not None and asked_s is None:
        longest = f"{longest_s:.15g} s ({longest_s / 3600:.6g} h)"
        notes = (*notes, f"no time limit is set: it gets the longest that {one.tenant} may have, {longest}")
        asked_s = longest_s
    tail = "that have not ended, held ones too; `zoe quota` shows how many there are"
    if quota.executions_max is not None and executions >= quota.executions_max:
        return f"maximum for {one.tenant}: {count_with_noun(quota.executions_max, 'execution')} {tail}"
    if quota.executions_of_user_max is not None and executions_of_user >= quota.executions_of_user_max:
        most = count_with_noun(quota.executions_of_user_max, "execution")
        return f"maximum for {one.user} in {one.tenant}: {most} {tail}"
    return replace(one, application=replace(one.application, time_limit_s=asked_s), notes=notes)


@pytest.mark.parametrize("seed", range(300))
def test_submissions_are_answered_as_they_were(seed: int) -> None:
    """With any limits of cores, too, which bear on no submission."""
    chance = random.Random(f"quotas {seed}")
    store, quotas, there = MemoryStore(), {"red": OldQuota(), "blue": OldQuota()}, Counter[tuple[str, ...]]()
    store.set_policy(decode(Policy, limits(chance)), 0, 1.0, "test")
    for number in range(1, 30):
        if chance.random() < 0.2:
            tenant = chance.choice(["red", "blue"])
            of_tenant, of_user = chance.choice([None, 0, 1, 2, 5]), chance.choice([None, 1, 2])
            quotas[tenant] = OldQuota(of_tenant, of_user, chance.choice([None, None, 60.0, 5400.0]))
            set_quota(store, tenant, Quota(*astuple(quotas[tenant])))
        asks_s = chance.choice([None, 60.0, 61.5, 7200.0])
        one = replace(
            execution(number),
            tenant=chance.choice(["red", "blue", "green"]),
            user=chance.choice(["ada", "eve"]),
            application=application(time_limit_s=asks_s),
        )
        quota = quotas.get(one.tenant, OldQuota())
        expected = old_answer(one, quota, there[one.tenant,], there[one.tenant, one.user])
        assert answer(store, one) == expected
        if not isinstance(expected, str):
            there.update([(one.tenant,), (one.tenant, one.user)])


def answer(store: MemoryStore, one: Execution) -> str | Execution:
    try:
        stored = store.submit(one, "request")
    except (QuotaExceeded, TimeLimitTooLong) as refused:
        return str(refused)
    return replace(one, application=stored.application, notes=stored.notes)


if __name__ == "__main__":
    FILE.write_text(json.dumps([plan_of(seed) for seed in range(SEEDS)], indent=0) + "\n")
