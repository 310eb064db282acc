"""Clusters and queues that several benchmarks use; queues are ranked by the default policy, as in a master."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from benchmarks.scheduler_smoke import GIB, queued_execution
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import STORAGE_PATH_LABEL, Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Placement, StartPlanned
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.guaranteed import as_guaranteed
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.finish_times import FinishTerms, Promise
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import StorageDemand, StorageObject, object_of
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.capacity import capacity_of
from zoe_master.scheduler.ordering.ranking import QueueRanking, RankedQueue
from zoe_master.scheduler.ordering.snapshot import Snapshot

PLACED = 1000


def placing(nodes: int, full: float, group: int, executions: int) -> Snapshot:
    """Return nodes of 32 cores, this share of them fully taken; services of one core and 1 GiB."""
    cluster = _nodes(nodes, 32)
    active = tuple(_running(i, node, 32) for i, node in enumerate(cluster[: round(nodes * full)]))
    service = Component("c", "zoe/tiny", Resources(1000, GIB), essential_count=group, total_count=group)
    return Snapshot(1.0, cluster, _queue(executions, service, cluster), active)


def reading(nodes: int, full: float, executions: int) -> Snapshot:
    """Return the same as `placing`, for applications that read one of 100 inputs, each on three nodes with a path to
    the store.
    """
    picture = placing(nodes, full, 1, 0)
    cluster = tuple(replace(node, labels={**node.labels, STORAGE_PATH_LABEL: str(10**9)}) for node in picture.nodes)
    service = Component("c", "zoe/tiny", Resources(1000, GIB))
    uris = [f"swift2d://data.zoe/{number}" for number in range(100)]
    waiting = []
    for number in range(executions):
        storage = StorageDemand(inputs=(StorageObject("data", uris[number % len(uris)]),))
        waiting.append(queued_execution(number, Application("bench", (service,), storage=storage)))
    chance = random.Random(1)
    names = [node.name for node in cluster]
    one = InputObjects(1, GIB)
    places = {
        object_of(waiting[0].tenant, uri): Places(one, one, dict.fromkeys(chance.sample(names, 3), one)) for uri in uris
    }
    return replace(picture, nodes=cluster, queued=as_ranked(waiting, cluster), locality=places)


def blocked_cluster(nodes: int, executions: int) -> Snapshot:
    """Return nodes with one free core each, and services that need two."""
    cluster = _nodes(nodes, 2)
    active = tuple(_running(i, node, 1) for i, node in enumerate(cluster))
    service = Component("c", "zoe/tiny", Resources(2000, GIB))
    return Snapshot(1.0, cluster, _queue(executions, service, cluster), active)


def room_for_some(nodes: int, executions: int, placed: int) -> Snapshot:
    """Return the same, but with this many services of one core first."""
    picture = blocked_cluster(nodes, executions - placed)
    small = Application("bench", (Component("c", "zoe/tiny", Resources(1000, GIB)),))
    first = (replace(queued_execution(10**7 + i, small), priority=1) for i in range(placed))
    return replace(picture, queued=as_ranked([*first, *picture.queued], picture.nodes))


def with_promises(picture: Snapshot, count: int) -> Snapshot:
    """Return the same with promises: at regular intervals a waiting execution is promised to begin later, on five
    nodes.
    """
    now_s, waiting, bookings = picture.now_s, list(picture.queued), []
    step = len(waiting) // count
    for number in range(count):
        execution, begins_s = waiting[number * step], now_s + 1000 + number
        terms = FinishTerms(begins_s + 4000, 0.9, 0, 500.0, begins_s)
        waiting[number * step] = as_guaranteed(replace(execution, promise=Promise(terms, now_s)))
        amount = execution.application.components[0].reservation
        nodes = (picture.nodes[(number * 7 + each) % len(picture.nodes)].name for each in range(5))
        places = tuple((name, amount) for name in nodes)
        bookings.append(Booking(execution.id, begins_s, terms.finish_s, places))
    return replace(picture, queued=as_ranked(waiting, picture.nodes), bookings=tuple(bookings))


def half_full(nodes: int) -> Snapshot:
    """Return nodes of 32 cores, half of them taken; nothing waits."""
    cluster = _nodes(nodes, 32)
    return Snapshot(1.0, cluster, (), tuple(_running(i, node, 16) for i, node in enumerate(cluster)))


def queued_as(components: int, services: int) -> Execution:
    """Return a waiting execution of this many different components, each with this many services of two cores."""
    parts = (
        Component(f"c{i}", "zoe/tiny", Resources(2000, GIB + i), essential_count=services, total_count=services)
        for i in range(components)
    )
    return queued_execution(10**8, Application("bench", tuple(parts)))


def mixed_cluster(nodes: int, executions: int) -> Snapshot:
    """Return applications of all sizes: the ones that fit run, the others wait."""
    chance = random.Random(1)
    everybody = []
    for number in range(executions + 6 * nodes):
        reservation = Resources(chance.choice([1, 2, 4]) * 1000, chance.choice([1, 4, 8]) * GIB)
        part = Component("c", "zoe/tiny", reservation, essential_count=chance.randint(1, 12), total_count=12)
        run_s = chance.choice([60.0, 600.0, 3600.0, 7200.0]) * chance.random()
        everybody.append(queued_execution(number, Application("bench", (part,), expected_run_s=run_s)))
    empty = Snapshot(1.0, _nodes(nodes, 32), tuple(everybody))
    starts = schedule(empty, Policy()).starts
    active = [apply(e, StartPlanned(at_s=1.0, placements=starts[e.id])) for e in everybody if e.id in starts]
    waiting = [e for e in everybody if e.id not in starts][:executions]
    return Snapshot(2.0, empty.nodes, as_ranked(waiting, empty.nodes), tuple(active))


def unlike_cluster(nodes: int, executions: int) -> Snapshot:
    """Return nodes that are nearly full, and a queue in which each execution has a demand and a run time of its own.

    The queue is what has found no room: another pass over the same snapshot starts nothing.
    """
    chance = random.Random(1)
    empty = Snapshot(1.0, _nodes(nodes, 32), tuple(_unlike(number, chance) for number in range(executions + 5 * nodes)))
    policy = Policy(backfill="easy", placements_per_tick_max=10**6)
    started, active, waiting = empty, [], list(empty.queued)
    while (starts := schedule(started, policy).starts) and len(waiting) > executions:
        active += [apply(e, StartPlanned(at_s=1.0, placements=starts[e.id])) for e in waiting if e.id in starts]
        waiting = [e for e in waiting if e.id not in starts]
        started = Snapshot(2.0, empty.nodes, as_ranked(waiting, empty.nodes), tuple(active))
    return replace(started, queued=as_ranked(waiting[:executions], empty.nodes))


def arrival(picture: Snapshot, number: int, cores_milli: int = 1) -> Execution:
    """Return one more waiting execution of the smallest size, after all others."""
    part = Component("c", "zoe/tiny", Resources(cores_milli, 2**20))
    late = queued_execution(number, Application("bench", (part,), expected_run_s=1.0))
    return replace(late, submitted_at_s=picture.now_s)


def _unlike(number: int, chance: random.Random) -> Execution:
    count = chance.choice([1, 1, 1, 2, 4, 8])
    reservation = Resources(chance.randint(500, 16_000), chance.randint(2**28, 2**36))
    part = Component("c", "zoe/tiny", reservation, essential_count=count, total_count=count)
    return queued_execution(number, Application("bench", (part,), expected_run_s=chance.uniform(60.0, 86_400.0)))


def _nodes(count: int, cores: int) -> tuple[Node, ...]:
    return tuple(Node(f"node{i:05}", Resources(cores * 1000, 128 * GIB)) for i in range(count))


def _queue(count: int, service: Component, nodes: tuple[Node, ...]) -> RankedQueue:
    application = Application("bench", (service,))
    return as_ranked((queued_execution(i, application) for i in range(count)), nodes)


def as_ranked(executions: Iterable[Execution], nodes: tuple[Node, ...]) -> RankedQueue:
    """Return the queue in the master's order."""
    return QueueRanking(Policy(), {}, list(executions), capacity_of(nodes)).snapshot()


def _running(number: int, node: Node, cores: int) -> Execution:
    one = Component("r", "zoe/tiny", Resources(cores * 1000, GIB))
    execution = queued_execution(10**6 + number, Application("bench", (one,)))
    placement = Placement(service_id=execution.services[0].id, node=node.name)
    return apply(execution, StartPlanned(at_s=1.0, placements=(placement,)))
