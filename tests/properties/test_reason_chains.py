"""Remove what a reason names, and the execution starts or gets another true reason; at the end it starts."""

from __future__ import annotations

import random

import pytest

from tests.support.checks import of_checks
from tests.support.reason_chains import situation, without_cause
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import NOT_SHOWN_TO_FIT, ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.what_if.explain import explain

CASES, PER_CASE = of_checks(0.1, 10_000), 25
# Once their cause is gone, they are not told again.
ONCE = frozenset(
    {ReasonCode.NEVER_FITS, ReasonCode.NO_NODES, ReasonCode.NODES_AWAY, ReasonCode.FOREIGN_USE, ReasonCode.WINDOW_AHEAD}
)
LENGTH_MAX = 30


def chain_of(chance: random.Random) -> tuple[list[str], str]:
    """Return the codes of the reasons of one execution until it starts, and what is wrong; empty: nothing."""
    snapshot, policy = situation(chance)
    if not snapshot.queued:
        return [], ""
    wanted: Execution = chance.choice(snapshot.queued)
    told: list[str] = []
    for _ in range(LENGTH_MAX):
        plan = schedule(snapshot, policy)
        found = explain(snapshot, policy, wanted.id)
        if found is None:
            return told, "it has left the queue"
        if wanted.id in plan.starts:
            return told, "" if found.reason is None else f"it starts, and explain says {found.reason.code}"
        reason = found.reason
        if reason is None:
            return told, "it does not start, and explain has no reason"
        listed = plan.reasons[wanted.id]
        if reason.code in ONCE and listed.code is ReasonCode.BEHIND_IN_QUEUE:
            return told, f"lists say {listed.code}, and the cause is {reason.code}: {reason.sentence}"
        if reason.code in ONCE and reason.code in told:
            return told, f"{reason.code} again, after its cause is gone: {reason.sentence}"
        told.append(reason.code)
        without = without_cause(snapshot, policy, plan, wanted, reason)
        if without is None:
            return told, f"there is nothing of what it names: {reason.code}, {reason.sentence} {reason.hint}"
        if without == (snapshot, policy):
            return told, f"nothing changes without what it names: {reason.code}, {reason.sentence}"
        if reason.hint == NOT_SHOWN_TO_FIT:
            told.append(NOT_SHOWN_TO_FIT)
        snapshot, policy = without
        wanted = next(e for e in snapshot.queued if e.id == wanted.id)
    return told, "it never starts"


@pytest.mark.parametrize("case", range(max(CASES // PER_CASE, 1)))
def test_chain_of_reasons_ends_in_a_start(case: int) -> None:
    for seed in range(case * PER_CASE, (case + 1) * PER_CASE):
        told, wrong = chain_of(random.Random(seed))
        assert wrong == "", f"seed {seed}: {' > '.join(told)}: {wrong}"
