"""Present use of executions, compared with the computation over all of them: equal at any moment, and as cheap as the
running ones.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pytest

from tests.support.applications import application, component, execution
from tests.support.histories import legal_events
from tests.support.statements import copy_execution, rows_read, statements_of
from zoe_lib.domain.applications.application import Application, Port, PortProtocol
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.gateway import NO_GATEWAY, held_resources
from zoe_lib.domain.executions.limits import LimitSubject, use_by_subject
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.postgres.store import PostgresStore

SEEDS = 4
EXECUTIONS = 20
STEPS = 25
COPIES = 1500
GATEWAY = Resources(100, 64 << 20)
PORT = Port("web", 8000, PortProtocol.HTTP, "/", proxied=True)
Amounts = tuple[int, int, int, int, int]


def some_application(chance: random.Random) -> Application:
    ports = chance.choice([(), (PORT,), (PORT,)])
    parts = [component("master", ends_application=True), component("worker", 1, 3, startup_order=1, ports=ports)]
    if chance.random() < 0.5:
        return application(*parts)
    bandwidth = Bandwidth(300, chance.choice([None, 7]), chance.choice([*Guarantee, Guarantee.REQUIRED]))
    return application(*parts, storage=StorageDemand(bandwidth=bandwidth))


def some_history(one: Execution, chance: random.Random) -> Iterator[ev.Event]:
    """Legal events, seldom ones that end everything; services end one by one, and start on several nodes."""
    steps = chance.randrange(STEPS)
    for step in range(steps):
        legal = list(legal_events(one, at_s=one.submitted_at_s + step + 0.25))
        if not legal:
            return
        going_on = [event for event in legal if not isinstance(event, ev.Refused | ev.Stopping)]
        placing = [e for e in going_on if isinstance(e, ev.StartPlanned | ev.ElasticPlaced) and e.placements]
        event = chance.choice((placing or going_on or legal) if chance.random() < 0.9 else legal)
        if isinstance(event, ev.StartPlanned | ev.ElasticPlaced):
            nodes = (replace(placement, node=chance.choice(["n1", "n2", "n3"])) for placement in event.placements)
            event = replace(event, placements=tuple(nodes))
        one = apply(one, event)
        yield event


# -- the computation of before, over all executions -------------------------------------------------------------------
def held_by_all(executions: Iterable[Execution], gateway: Resources) -> Mapping[str, Amounts]:
    nodes: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for running in executions:
        for service, amount in held_resources(running, gateway):
            assert service.node is not None
            there = nodes[service.node]
            there[0] += amount.cores_milli
            there[1] += amount.memory_bytes
            there[4] += service.alive
            if not service.core:
                there[2] += amount.cores_milli
                there[3] += amount.memory_bytes
    return {node: (there[0], there[1], there[2], there[3], there[4]) for node, there in nodes.items()}


def plain(has: Mapping[LimitSubject, Mapping[str, int]]) -> Mapping[LimitSubject, Mapping[str, int]]:
    return {subject: dict(amounts) for subject, amounts in has.items()}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_sums_equal_those_over_all_executions(seed: int, any_store: ExecutionStore) -> None:
    chance = random.Random(f"present use {seed}")
    seen: Counter[str] = Counter()
    for number in range(EXECUTIONS):
        owner = {"tenant": chance.choice(["red", "blue"]), "user": chance.choice(["ada", "bob"])}
        one = any_store.submit(execution(number, application=some_application(chance), **owner), "request")
        told = list(some_history(one, chance))
        if told:
            one = any_store.append(one.id, told, one.version, None)
        seen["elastic"] += any(not service.core for service, _ in held_resources(one, GATEWAY))
        seen["gateway of an ended bearer"] += any(not service.alive for service, _ in held_resources(one, GATEWAY))
        seen["guaranteed"] += bool(use_by_subject([one])[LimitSubject(one.tenant)]["read_bytes_per_s"])
        check(any_store)
    assert min(seen.values()) > 0, seen


def check(store: ExecutionStore) -> None:
    active = store.active()
    assert plain(store.use_by_subject()) == plain(use_by_subject(active))
    for gateway in (NO_GATEWAY, GATEWAY):
        nodes = store.held_on_nodes(gateway)
        assert {
            name: (
                *(here.reserved.cores_milli, here.reserved.memory_bytes),
                *(here.elastic.cores_milli, here.elastic.memory_bytes, here.services),
            )
            for name, here in nodes.items()
        } == held_by_all(active, gateway)
    ids = {f"{execution(number).id}" for number in range(EXECUTIONS)}
    for tenant in (None, "red"):
        of_tenant = [e for e in active if tenant in (None, e.tenant)]
        assert set(store.active_among(ids, Visibility(tenant))) == {e.id for e in of_tenant}
        user = active[0].user if active else "ada"
        of_user = {e.id for e in of_tenant if tenant is None or e.user == user}
        assert set(store.active_among(ids, Visibility(tenant, user))) == of_user
    assert not store.active_among([])


def test_a_long_queue_costs_no_services(bounded_store: PostgresStore, postgres_url: str) -> None:
    """Of 1,501 that wait, only their number by owner is counted, from an index; none of their services is read."""
    waiting = bounded_store.submit(execution(1), "request")
    copy_execution(postgres_url, waiting.id, COPIES)
    with statements_of(bounded_store) as asked:
        assert bounded_store.use_by_subject()[LimitSubject(waiting.tenant)]["executions"] == COPIES + 1
        assert bounded_store.held_on_nodes(GATEWAY) == {}
        assert bounded_store.active_among([waiting.id], Visibility(waiting.tenant, waiting.user)) == {waiting.id}
    assert len(asked) == 6
    assert rows_read(postgres_url, asked) <= COPIES + 1 + 20
