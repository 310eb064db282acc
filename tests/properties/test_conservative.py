"""Reservations from running sums and timelines are those of accounts for every span."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.properties.test_backfill import crowded, unlike
from tests.support.checks import CHECKS
from tests.support.plain_profile import PlainProfile
from tests.support.snapshots import PER_CASE, random_snapshot, varied
from zoe_lib.domain.cluster.policy import Policy
from zoe_master.scheduler import queue_pass
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_conservative_plans_equal_those_of_accounts_for_every_span(
    first_seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [case for seed in range(first_seed, first_seed + PER_CASE) for case in _cases(seed)]
    quick = [schedule(*case) for case in cases]
    monkeypatch.setattr(queue_pass, "CapacityProfile", PlainProfile)
    assert [schedule(*case) for case in cases] == quick


def _cases(seed: int) -> list[tuple[Snapshot, Policy]]:
    chance = random.Random(f"conservative {seed}")
    preemption = chance.choice(["elastic", "none"])
    cases = [crowded(seed), varied(*random_snapshot(chance), chance), unlike(*crowded(seed), chance)]
    return [(snapshot, replace(policy, backfill="conservative", preemption=preemption)) for snapshot, policy in cases]
