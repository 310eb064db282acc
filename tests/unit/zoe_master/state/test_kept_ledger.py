"""The incremental ledger has the same accounts as a new one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.state.kept_ledger import KeptLedger

NODES = (node("b", cores=4, devices={"gpu": 2}), node("a", cores=2), node("c", cores=8))


def accounts(ledger: Ledger, active: Sequence[Execution]) -> Any:
    """Return everything that the scheduler reads of it; a used-up device may be named or not."""
    devices = [{kind: left for kind, left in free.items() if left} for free in ledger.free_devices]
    return (
        (ledger.nodes, ledger.index, ledger.gateway, ledger.locality, ledger.largest_memory, ledger.changes),
        (ledger.free_cores, ledger.free_memory, devices, ledger.services, ledger.free_cores_in_all),
        [ledger.holdings(execution) for execution in active],
    )


def random_execution(chance: random.Random, number: int) -> Execution:
    devices = {"gpu": 1} if chance.random() < 0.3 else {}
    one = component(cores=chance.choice([0.5, 1, 3]), essential_count=chance.randint(1, 3), devices=devices)
    execution = queued(f"e{number}", one)
    return started(execution, *(chance.choice("abc") for _ in execution.services))


def changed_nodes(chance: random.Random, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Change foreign use, remove and return a node, or change only the containers on one."""
    match chance.randrange(4):
        case 0:
            return tuple(replace(node, foreign=Resources(chance.choice([0, 700, 9000]), 5)) for node in nodes)
        case 1:
            away = chance.choice("abc")
            return tuple(node for node in NODES if node.name != away)
        case 2:
            return NODES
        case _:
            return tuple(replace(node, containers=chance.randrange(9)) for node in nodes)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_that_of_the_present_executions_however_they_came_and_went(seed: int) -> None:
    chance, kept, there, nodes = random.Random(seed), KeptLedger(), dict[str, Execution](), NODES
    for number in range(60):
        for _ in range(chance.randrange(3)):
            if there and chance.random() < 0.4:
                execution_id = chance.choice(sorted(there))
                kept.remove(execution_id)
                del there[execution_id]
            else:
                execution = random_execution(chance, number if chance.random() < 0.7 else chance.randrange(number + 1))
                kept.put(execution)
                there[execution.id] = execution
        if chance.random() < 0.3:
            nodes = changed_nodes(chance, nodes)
        active = tuple(there.values())
        made = kept.ledger_for(nodes, active, {}, {})
        assert accounts(made, active) == accounts(Ledger(nodes, active), active)
        made.take(0, Resources(1000, 1))  # changes of a pass to its copy are not kept


def test_a_snapshot_keeps_its_accounts_whatever_later_ticks_count() -> None:
    kept, first = KeptLedger(), started(queued("e"), "a")
    kept.put(first)
    before = made(kept, (first,))
    kept.put(replace(first, services=()))
    later = made(kept, (replace(first, services=()),))
    assert before.ledger().holdings(first) == Ledger(NODES, (first,)).holdings(first)
    assert before.ledger().free_cores != later.ledger().free_cores
    before.ledger().take(0, Resources(1000, 1))
    assert before.ledger().free_cores == Ledger(NODES, (first,)).free_cores


def made(kept: KeptLedger, active: tuple[Execution, ...]) -> Snapshot:
    locality: Mapping[Any, Any] = {}
    paths: Mapping[str, Any] = {}
    ledger = kept.ledger_for(NODES, active, locality, paths)
    return Snapshot(0.0, NODES, active=active, locality=locality, paths=paths, accounts=ledger)


def test_a_snapshot_of_others_has_accounts_of_its_own() -> None:
    """A dry run without some executions, or a plan on other nodes."""
    kept, running = KeptLedger(), started(queued("e"), "a")
    kept.put(running)
    snapshot = made(kept, (running,))
    assert snapshot.ledger().free_cores == [1000, 4000, 8000]
    assert replace(snapshot, active=()).ledger().free_cores == [2000, 4000, 8000]
    assert replace(snapshot, nodes=NODES[:1]).ledger().free_cores == [4000]
