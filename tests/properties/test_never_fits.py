"""`never_fits` is returned only where a plain search over all arrangements finds none, and admission agrees."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.checks import of_checks
from tests.support.scheduling import GIB, component, node, queued
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.exact_packing import StepBudget
from zoe_lib.domain.cluster.cluster import Node, fits_when_empty
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot

PER_CASE = 100
CASES = of_checks(0.6, 10_000)
Room = tuple[int, int, int]


def fits(nodes: Sequence[Node], components: Sequence[Component]) -> bool:
    """Backtrack over one service at a time. A state is the rest on each node; failed ones are stored."""
    services = [component for component in components for _ in range(component.essential_count)]
    services.sort(
        key=lambda component: (
            not component.labels,
            -component.reservation.memory_bytes,
            -component.reservation.cores_milli,
        )
    )
    failed: set[tuple[int, tuple[Room, ...]]] = set()

    def place(position: int, rooms: tuple[Room, ...]) -> bool:
        if position == len(services):
            return True
        if (position, rooms) in failed:
            return False
        one = services[position]
        wanted = _room(one.reservation)
        for i, room in enumerate(rooms):
            left = (room[0] - wanted[0], room[1] - wanted[1], room[2] - wanted[2])
            labelled = all(nodes[i].labels.get(key) == label for key, label in one.labels)
            if labelled and min(left) >= 0 and place(position + 1, (*rooms[:i], left, *rooms[i + 1 :])):
                return True
        failed.add((position, rooms))
        return False

    return place(0, tuple(_room(node.total) for node in nodes))


def _room(amount: Resources) -> Room:
    return amount.cores_milli, amount.memory_bytes, amount.devices.get("gpu", 0)


def random_case(chance: random.Random) -> tuple[list[Node], list[Component]]:
    """Up to four nodes, often alike, and up to twelve services that want nearly all of them."""
    kinds = [(chance.randint(2, 10), chance.randint(2, 10), chance.choice([0, 0, 1, 2])) for _ in range(2)]
    nodes = []
    for i in range(chance.randint(1, 4)):
        cores, memory_gib, gpus = chance.choice(kinds)
        labels = {"disk": "ssd"} if chance.random() < 0.4 else {}
        ready = chance.random() > 0.15
        nodes.append(node(f"n{i}", cores, memory_gib, labels=labels, devices={"gpu": gpus}, ready=ready))
    left = chance.randint(2, 12)
    share = chance.uniform(0.6, 1.0)
    cores_left = share * sum(node.total.cores_milli for node in nodes) / 1000
    memory_left = share * sum(node.total.memory_bytes for node in nodes) / GIB
    components: list[Component] = []
    while left > 0 and min(cores_left, memory_left) > 0:
        count = min(chance.choice([1, 1, 2, 3]), left)
        cores, memory_gib = chance.choice([0, 1, 2, 3, 4, 5]), chance.choice([0, 1, 2, 3, 4, 5])
        labels_wanted = (("disk", "ssd"),) if chance.random() < 0.25 else ()
        gpus = 1 if chance.random() < 0.15 else 0
        devices = {"gpu": gpus} if gpus else {}
        name = f"c{len(components)}"
        components.append(
            component(name, cores, memory_gib, labels=labels_wanted, devices=devices, essential_count=count)
        )
        left -= count
        cores_left -= count * cores
        memory_left -= count * memory_gib
    return nodes, components


def check_seed(seed: int) -> bool | None:
    """Return whether it fits; None where the bound was hit."""
    nodes, components = random_case(random.Random(seed))
    execution = queued("x", *components)
    answer = fits_when_empty(execution.application, nodes, StepBudget())
    expected = fits(nodes, components)
    if isinstance(answer, Reason):
        assert not expected, f"seed {seed}: it fits, and was refused: {answer.sentence}"
        return False
    if not answer:
        return None
    assert expected, f"seed {seed}: said to fit, and does not"
    empty = tuple(replace(node, ready=True) for node in nodes)
    assert schedule(Snapshot(1.0, empty, (execution,)), Policy()).starts, f"seed {seed}: accepted, and does not start"
    return True


@pytest.mark.parametrize("first_seed", range(0, CASES, PER_CASE))
def test_only_what_no_arrangement_holds_never_fits(first_seed: int) -> None:
    answers = [check_seed(seed) for seed in range(first_seed, min(first_seed + PER_CASE, CASES))]
    assert {True, False} <= set(answers), "this tries nothing"
    assert answers.count(None) <= len(answers) // 50, f"the bound was hit {answers.count(None)} times"
