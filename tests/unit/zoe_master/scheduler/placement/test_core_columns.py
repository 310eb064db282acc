"""One test for a whole queue answers as the test of each execution does."""

from __future__ import annotations

import random

import pytest

from tests.support.applications import GIB, application, component, execution
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.core_columns import ServiceColumns
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer


def random_execution(number: int, chance: random.Random) -> Execution:
    count = chance.choice([1, 1, 2, 5])
    amount = Resources(chance.choice([0, 100, 900, 2000, 4000]), chance.choice([0, GIB, 3 * GIB, 9 * GIB]))
    labels = (("disk", "ssd"),) if chance.random() < 0.2 else ()
    parts = [component("a", reservation=amount, essential_count=count, total_count=count, labels=labels)]
    if chance.random() < 0.2:
        parts.append(component("b", reservation=amount))
    return execution(number, application=application(*parts))


def test_columns_say_what_the_single_test_says() -> None:
    settled = total = 0
    for seed in range(60):
        chance = random.Random(seed)
        nodes = [
            Node(f"n{i}", Resources(chance.choice([0, 1000, 4000]), chance.choice([0, 2, 8]) * GIB)) for i in range(4)
        ]
        queue = [random_execution(number, chance) for number in range(40)]
        check = CapacityCheck(ServicePlacer(Ledger(nodes, ()), Policy()))
        may, surely = check.settle(ServiceColumns(queue))
        for one, maybe, certain in zip(queue, may.tolist(), surely.tolist(), strict=True):
            answer = check.may_have_room(one)
            assert certain <= answer <= maybe, f"seed {seed}, {one.id}"
            total += 1
            settled += certain or not maybe
    assert settled > total / 2


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_queue_without_plain_executions_is_tested_one_by_one(number: int) -> None:
    labelled = application(component("a", labels=(("disk", "ssd"),)))
    columns = ServiceColumns([execution(n, application=labelled) for n in range(number)])
    may, surely = CapacityCheck(ServicePlacer(Ledger([], ()), Policy())).settle(columns)
    assert (may.tolist(), surely.tolist()) == ([True] * number, [False] * number)
