"""What is surely refused, and what may have room."""

from __future__ import annotations

import random
from typing import Any

from tests.support.scheduling import GIB, component, ledger, node, queued
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request


def check(*nodes: Any) -> CapacityCheck:
    return CapacityCheck(ServicePlacer(ledger(*nodes), Policy()))


def may_fit(room: CapacityCheck, **demand: Any) -> bool:
    return room.may_have_room(queued("q", component(**demand)))


def test_cores_and_memory_must_be_free_on_the_same_node() -> None:
    room = check(node("a", cores=8, memory_gib=1), node("b", cores=1, memory_gib=64))
    assert may_fit(room, cores=8, memory_gib=1)
    assert may_fit(room, cores=1, memory_gib=64)
    assert not may_fit(room, cores=2, memory_gib=2)
    assert not may_fit(room, cores=9, memory_gib=0)


def test_services_are_counted_over_all_nodes() -> None:
    room = check(node("a", cores=4, memory_gib=8), node("b", cores=3, memory_gib=64))
    assert may_fit(room, cores=2, essential_count=3)
    assert not may_fit(room, cores=2, essential_count=4)
    assert may_fit(room, cores=0, memory_gib=8, essential_count=9)
    assert not may_fit(room, cores=0, memory_gib=8, essential_count=10)
    assert may_fit(room, cores=0, memory_gib=0, essential_count=1000)


def test_overdrawn_nodes_take_nothing() -> None:
    room = check(node("a", cores=4, foreign=Resources(5000)))
    assert not may_fit(room, cores=0, memory_gib=0)


def test_devices_and_labels_are_checked_on_the_nodes_that_have_them() -> None:
    room = check(node("a", devices={"gpu": 2}, labels={"disk": "ssd"}), node("b", cores=64))
    ssd = (("disk", "ssd"),)
    assert may_fit(room, devices={"gpu": 1}, essential_count=2)
    assert not may_fit(room, devices={"gpu": 1}, essential_count=3)
    assert may_fit(room, cores=8, labels=ssd)
    assert not may_fit(room, cores=9, labels=ssd)
    assert not may_fit(room, labels=(("disk", "hdd"),))


def test_held_nodes_count_for_executions_that_end_before() -> None:
    held = node("a", holds=(NodeHold(None, 1000.0),))
    room = CapacityCheck(
        ServicePlacer(ledger(held), Policy(), span=lambda e: (0.0, e.application.expected_run_s or 0.0))
    )
    assert room.may_have_room(queued("short", expected_run_s=1000.0))
    assert not room.may_have_room(queued("long", expected_run_s=1001.0))


def test_refresh_uses_the_present_amounts() -> None:
    accounts = ledger(node("a", cores=4))
    room = CapacityCheck(ServicePlacer(accounts, Policy()))
    assert may_fit(room, cores=4)
    accounts.take(0, Resources(1000))
    assert may_fit(room, cores=4)
    room.refresh()
    assert not may_fit(room, cores=4)


def test_with_very_many_sets_of_labels_further_ones_are_checked_as_if_every_node_had_them() -> None:
    room = check(node("a", cores=4))
    assert not any(may_fit(room, labels=(("rack", str(number)),)) for number in range(64))
    assert may_fit(room, cores=4, labels=(("rack", "64"),))
    assert not may_fit(room, cores=5, labels=(("rack", "65"),))


def test_columns_that_follow_changes_answer_as_placement_does() -> None:
    chance = random.Random(1)
    nodes = [
        node(f"n{i:02}", cores=chance.randint(1, 8), memory_gib=chance.randint(1, 8), devices={"gpu": i % 3})
        for i in range(40)
    ]
    accounts = ledger(*nodes)
    room, answers = CapacityCheck(ServicePlacer(accounts, Policy())), set()
    for _ in range(100):
        for _ in range(chance.randint(0, 3)):
            cores_milli, memory_bytes = chance.randint(-2000, 3000), chance.randint(-GIB, 2 * GIB)
            accounts.take(chance.randrange(40), Resources(cores_milli, memory_bytes, {"gpu": chance.randint(0, 1)}))
        room.refresh()
        for _ in range(20):
            asked = component(
                cores=chance.randint(0, 6),
                memory_gib=chance.randint(0, 6),
                devices=chance.choice([{}, {"gpu": 1}]),
                essential_count=chance.choice([1, 2, 5, 20, 60]),
            )
            empty = not (asked.reservation.cores_milli or asked.reservation.memory_bytes or asked.reservation.devices)
            placed = [] if empty else ServicePlacer(accounts.copy(), Policy()).place(Request(asked, 60, "t"))
            fits = empty or len(placed) >= asked.essential_count
            assert room.may_have_room(queued("q", asked)) == fits, asked
            answers.add(fits)
    assert answers == {True, False}
