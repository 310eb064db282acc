"""Random situations with all causes of waiting, and the removal of what a reason names."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from tests.support.limits import tenant_limit, user_limit
from tests.support.snapshots import random_snapshot, varied
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates, required_rates
from zoe_lib.domain.values.finish_times import FinishTerms, Promise
from zoe_lib.domain.values.reasons import NOT_SHOWN_TO_FIT, Reason, ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.admission import places_in
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

MB = 1_000_000
LARGE = Resources(1_000_000, 2**50, {"gpu": 1000})
_UNITS = {"day": 86_400.0, "hour": 3600.0, "minute": 60.0, "second": 1.0}


def situation(chance: random.Random) -> tuple[Snapshot, Policy]:
    """Return a cluster with windows, limits, bandwidth, members of arrays, promises and programs beside Zoe."""
    snapshot, policy = varied(*random_snapshot(chance), chance)
    nodes = tuple(replace(node, holds=_holds(chance)) for node in snapshot.nodes)
    queued = tuple(_somebodys(execution, chance) for execution in snapshot.queued)
    amount = user_limit(chance.choice([None, 1000, 4000]), None)
    supply = chance.choice([None, BandwidthSupply(Rates(chance.randint(20, 90) * MB, 50 * MB))])
    limits = {**policy.tenant_limits, **({"b": tenant_limit(3000, None, 40 * MB)} if chance.random() < 0.3 else {})}
    policy = replace(
        policy,
        user_limits=chance.choice([{}, {}, {"a": amount}]),
        tenant_limits=limits,
        placements_per_tick_max=chance.choice([1000, 1000, 2]),
    )
    made = replace(snapshot, nodes=nodes, queued=queued, storage=supply)
    return _with_promises(made, policy, chance), policy


def without_cause(
    snapshot: Snapshot, policy: Policy, plan: Plan, wanted: Execution, reason: Reason
) -> tuple[Snapshot, Policy] | None:
    """Return the situation without what the reason of an execution names; None if there is nothing like it."""
    if reason.hint == NOT_SHOWN_TO_FIT:
        return _with_larger_nodes(snapshot), policy
    match reason.code:
        case ReasonCode.NEVER_FITS:
            return _with_larger_nodes(snapshot), policy
        case ReasonCode.NO_NODES | ReasonCode.NODES_AWAY:
            opened = [replace(node, ready=True, holds=_later(node, snapshot.now_s)) for node in snapshot.nodes]
            return _changed(snapshot, nodes=opened), policy
        case ReasonCode.WINDOW_AHEAD:
            limited = _as_hinted(wanted, reason.hint)
            return _changed(snapshot, queued=[limited if e.id == wanted.id else e for e in snapshot.queued]), policy
        case ReasonCode.FOREIGN_USE:
            return _changed(snapshot, nodes=[replace(node, foreign=Resources()) for node in snapshot.nodes]), policy
        case ReasonCode.NO_RESOURCES | ReasonCode.MAKING_ROOM:
            return _without_services(snapshot, policy, _running(snapshot, plan) - {wanted.id})
        case ReasonCode.BEHIND_IN_QUEUE | ReasonCode.SCAN_LIMIT:
            return _without_services(snapshot, policy, _ahead(snapshot, policy, wanted))
        case ReasonCode.BOOKED:
            others = [booking for booking in snapshot.bookings if booking.execution_id != wanted.id]
            return None if not others else _without_services(snapshot, policy, {b.execution_id for b in others})
        case ReasonCode.TENANT_LIMIT | ReasonCode.USER_LIMIT:
            return _within_limits(snapshot, policy, plan, wanted, reason)
        case ReasonCode.STORAGE_BANDWIDTH:
            return _with_bandwidth(snapshot, policy, plan, wanted, reason)
    return None


def _holds(chance: random.Random) -> tuple[NodeHold, ...]:
    if chance.random() < 0.6:
        return ()
    since_s = chance.choice([0.0, 40.0, 500.0, 500.0])
    until_s = chance.choice([None, since_s + 60.0])
    return (NodeHold(chance.choice([None, None, "a"]), since_s, until_s),)


def _later(node: Node, now_s: float) -> tuple[NodeHold, ...]:
    return tuple(hold for hold in node.holds if hold.since_s > now_s)


def _somebodys(execution: Execution, chance: random.Random) -> Execution:
    rate = chance.choice([None, None, None, 10 * MB, 30 * MB])
    wish = StorageDemand(bandwidth=Bandwidth(rate, None, Guarantee.REQUIRED)) if rate else None
    limit_s = chance.choice([None, None, 20.0, 300.0])
    application = replace(execution.application, storage=wish, time_limit_s=limit_s)
    name = f"a{'0' * 14}_{execution.id[1:]}" if chance.random() < 0.3 else execution.id
    services = tuple(replace(s, id=name + s.id.removeprefix(execution.id)) for s in execution.services)
    return replace(execution, id=name, services=services, application=application, user=chance.choice(["ada", "eve"]))


def _with_promises(snapshot: Snapshot, policy: Policy, chance: random.Random) -> Snapshot:
    """Book room for some, on the nodes as they are without services, after each other."""
    if chance.random() < 0.6:
        return snapshot
    bookings, queued = [], []
    ledger = Ledger(snapshot.nodes, ())
    for execution in snapshot.queued:
        places = places_in(ServicePlacer(ledger, policy), execution) if chance.random() < 0.5 else None
        if places is None:
            queued.append(execution)
            continue
        begins_s = snapshot.now_s + chance.choice([-5.0, 20.0, 90.0])
        booking = _booking(execution, ledger, places, begins_s)
        bookings.append(booking)
        terms = FinishTerms(booking.ends_s + 10, 0.9, 0, booking.ends_s - begins_s, begins_s)
        queued.append(replace(execution, promise=Promise(terms, 1.0)))
    return replace(snapshot, queued=tuple(queued), bookings=tuple(bookings))


def _booking(execution: Execution, ledger: Ledger, places: Sequence[Placement], begins_s: float) -> Booking:
    amounts = ledger.holdings_at(execution, places)
    for node, amount in amounts:
        ledger.take(node, amount)
    named = tuple((ledger.nodes[node].name, amount) for node, amount in amounts)
    rates = required_rates(execution.application) or Rates()
    return Booking(
        execution.id, begins_s, begins_s + 50, named, rates.read, tenant=execution.tenant, user=execution.user
    )


def _changed(snapshot: Snapshot, **changes: Iterable[object]) -> Snapshot:
    return replace(snapshot, **{name: tuple(found) for name, found in changes.items()})  # type: ignore[arg-type]


def _with_larger_nodes(snapshot: Snapshot) -> Snapshot:
    labels = {"disk": "ssd"}
    more = [Node(f"large{i}", LARGE, labels=labels, gateway=snapshot.nodes[0].gateway) for i in range(2)]
    return _changed(snapshot, nodes=[*snapshot.nodes, *more])


def _as_hinted(wanted: Execution, hint: str) -> Execution:
    """Return the execution with the time limit that the reason names."""
    found = re.search(r"time limit of at most (\d+) (day|hour|minute|second)s", hint)
    assert found is not None, hint
    limit_s = int(found[1]) * _UNITS[found[2]]
    return replace(wanted, application=replace(wanted.application, time_limit_s=limit_s))


def _running(snapshot: Snapshot, plan: Plan) -> set[ExecutionId]:
    """Return the executions that have places now or after the plan."""
    return {e.id for e in snapshot.active} | plan.starts.keys() | plan.reserved.keys()


def _ahead(snapshot: Snapshot, policy: Policy, wanted: Execution) -> set[ExecutionId]:
    ordered = [e.id for e in queue_sequence(Pass.from_snapshot(snapshot, policy))]
    due = {b.execution_id for b in snapshot.bookings if b.begins_s <= snapshot.now_s}
    return {*ordered[: ordered.index(wanted.id)], *due} - {wanted.id}


def _without_services(
    snapshot: Snapshot, policy: Policy, gone: Collection[ExecutionId]
) -> tuple[Snapshot, Policy] | None:
    names = {e.id for e in (*snapshot.active, *snapshot.queued)} | {b.execution_id for b in snapshot.bookings}
    if not names.intersection(gone):
        return None
    left = _changed(
        snapshot,
        active=[e for e in snapshot.active if e.id not in gone],
        queued=[e for e in snapshot.queued if e.id not in gone],
        bookings=[b for b in snapshot.bookings if b.execution_id not in gone],
    )
    return left, policy


def _within_limits(
    snapshot: Snapshot, policy: Policy, plan: Plan, wanted: Execution, reason: Reason
) -> tuple[Snapshot, Policy] | None:
    def shares(execution: Execution) -> bool:
        same = execution.tenant == wanted.tenant
        return same and (reason.code is ReasonCode.TENANT_LIMIT or execution.user == wanted.user)

    if reason.hint.startswith("it never starts within the limit"):
        return snapshot, replace(policy, tenant_limits={}, user_limits={})
    everyone = {e.id for e in (*snapshot.active, *snapshot.queued) if shares(e)} - {wanted.id}
    if "is ahead by the policy" in reason.sentence:
        return _without_services(snapshot, policy, everyone & _ahead(snapshot, policy, wanted))
    return _without_services(snapshot, policy, everyone & _running(snapshot, plan))


def _with_bandwidth(
    snapshot: Snapshot, policy: Policy, plan: Plan, wanted: Execution, reason: Reason
) -> tuple[Snapshot, Policy] | None:
    if "no storage controller" in reason.sentence or "can be promised in all" in reason.sentence:
        return replace(snapshot, storage=BandwidthSupply(Rates(10**12, 10**12))), policy
    if "limit" in reason.sentence:
        raised = {name: {**own, "read_bytes_per_s": None} for name, own in policy.tenant_limits.items()}
        if raised == policy.tenant_limits:
            return None
        return snapshot, replace(policy, tenant_limits=raised)
    users = {e.id for e in (*snapshot.active, *snapshot.queued) if required_rates(e.application)} - {wanted.id}
    booked = {b.execution_id for b in snapshot.bookings if b.read_bytes_per_s} - {wanted.id}
    return _without_services(snapshot, policy, users | booked)
