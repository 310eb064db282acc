"""Sums of ended executions: exact at any moment, and a query costs as much as the events since they were made."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pytest

from tests.support.applications import GIB, application, component, execution
from tests.support.histories import history
from tests.support.statements import copy_execution, rows_read, statements_of
from tests.support.stores import LIMITS
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark, Outcome
from zoe_lib.domain.executions.promises import requested_rates
from zoe_lib.domain.executions.use import DAY_S, DayOfUser, ResourceSeconds
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.billing import sums

SEEDS = 6
EXECUTIONS = 25
STEPS = 40
NOW_S = 30 * DAY_S
COPIES = 1500


# -- the computation of before the sums, over all executions ---------------------------------------------------------
@dataclass(frozen=True)
class HandedOver:
    """An execution as it was before a hand-over."""

    before: Execution
    at_s: float


def use_of_all(
    executions: Iterable[Execution], hand_overs: Mapping[str, list[HandedOver]], now_s: float | None
) -> Mapping[DayOfUser, ResourceSeconds]:
    """Each owner has the use so far at the end of its time, less that of the owners before."""
    result: dict[DayOfUser, ResourceSeconds] = defaultdict(ResourceSeconds)
    for last in executions:
        counted: dict[int, ResourceSeconds] = defaultdict(ResourceSeconds)
        for one, until_s in (*((h.before, h.at_s) for h in hand_overs.get(last.id, ())), (last, now_s)):
            so_far: dict[int, ResourceSeconds] = defaultdict(ResourceSeconds)
            for day, used in parts(one, until_s):
                so_far[day] += used
            for day, used in so_far.items():
                if used != counted[day]:
                    result[DayOfUser(day, one.tenant, one.user)] += less(used, counted[day])
            counted = so_far
    return dict(result)


def less(used: ResourceSeconds, before: ResourceSeconds) -> ResourceSeconds:
    return ResourceSeconds(
        used.core_s - before.core_s, used.memory_byte_s - before.memory_byte_s, used.store_bytes - before.store_bytes
    )


def parts(one: Execution, now_s: float | None) -> Iterator[tuple[int, ResourceSeconds]]:
    for service in one.services:
        end_s = service.ended_at_s if service.ended_at_s is not None else now_s
        if service.started_at_s is not None and end_s is not None:
            amount = one.component_of(service).reservation
            for day, seconds in days(service.started_at_s, end_s):
                yield day, ResourceSeconds(amount.cores_milli / 1000 * seconds, float(amount.memory_bytes) * seconds)
    rates = requested_rates(one.application)
    if rates is not None:
        for day, seconds in granted(one, one.marks.get(Mark.ENDED, now_s)).items():
            yield day, ResourceSeconds(store_bytes=float(rates.read + rates.write) * seconds)


def granted(one: Execution, until_s: float | None) -> Mapping[int, float]:
    since_s = one.marks.get(Mark.STORAGE_GRANTED)
    if since_s is None or until_s is None:
        return one.granted_s
    result = dict(one.granted_s)
    for day, seconds in days(since_s, until_s):
        result[day] = result.get(day, 0.0) + seconds
    return result


def days(from_s: float, to_s: float) -> Iterator[tuple[int, float]]:
    day = int(from_s // DAY_S)
    while from_s < to_s:
        until_s = min((day + 1) * DAY_S, to_s)
        yield day, until_s - from_s
        from_s, day = until_s, day + 1


# --------------------------------------------------------------------------------------------------------------------
def some_application(chance: random.Random) -> Application:
    parts = [component("master", ends_application=True), component("worker", 1, 3, startup_order=1)]
    if chance.random() < 0.5:
        return application(*parts)
    demand = StorageDemand(bandwidth=Bandwidth(3 * GIB, None, chance.choice([Guarantee.REQUIRED, Guarantee.PREFERRED])))
    return application(*parts, storage=demand)


def submitted(store: ExecutionStore, number: int, chance: random.Random) -> Execution:
    fresh = execution(
        number,
        tenant=chance.choice(["red", "blue"]),
        user=chance.choice(["ada", "bob"]),
        application=some_application(chance),
        submitted_at_s=chance.uniform(0, 20 * DAY_S),
    )
    return store.submit(fresh, "request")


def stretched(event: ev.Event, since_s: float, factor: float) -> ev.Event:
    return replace(event, at_s=since_s + (event.at_s - since_s) * factor)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_sums_equal_those_over_all_executions(
    seed: int, any_store: ExecutionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every moment: before, between and after steps of summing up, and when old ones were removed."""
    chance = random.Random(f"sums {seed}")
    monkeypatch.setattr(sums, "ENTRIES_AT_ONCE", 25)
    known: dict[str, Execution] = {}
    hand_overs: dict[str, list[HandedOver]] = defaultdict(list)
    removed: set[str] = set()
    for number in range(EXECUTIONS):
        one = submitted(any_store, number, chance)
        factor = 10 ** chance.uniform(0, 4.5)
        told = [
            stretched(e, one.submitted_at_s, factor) for e in history(one, chance.randrange(STEPS), chance.randrange)
        ]
        if chance.random() < 0.4:
            told = told or [ev.Queued(at_s=one.submitted_at_s)]
        state = one
        for event in told:
            if isinstance(event, ev.OwnerChanged):
                hand_overs[one.id].append(HandedOver(state, event.at_s))
            state = apply(state, event)
        if told:
            one = any_store.append(one.id, told, one.version, None)
        if one.state in (ExecutionState.SUBMITTED, ExecutionState.QUEUED) and chance.random() < 0.5:
            at_s = one.submitted_at_s + STEPS * factor
            refused = ev.Refused(at_s=at_s, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
            one = any_store.append(one.id, [refused], one.version, None)
        known[one.id] = one
        if chance.random() < 0.3:
            any_store.sum_up()
        if chance.random() < 0.4:
            event = ev.OwnerChanged(at_s=one.submitted_at_s + (STEPS + 1) * factor, former=one.user, user="carol")
            hand_overs[one.id].append(HandedOver(one, event.at_s))
            known[one.id] = any_store.append(one.id, [event], one.version, None)
        if chance.random() < 0.1:
            cut_s = chance.uniform(0, 20 * DAY_S)
            any_store.prune(cut_s + LIMITS.retention_s)
            removed |= {e.id for e in known.values() if e.terminal and e.marks[Mark.ENDED] < cut_s}
        check(any_store, known, hand_overs, removed, chance)
    while any_store.sum_up():
        check(any_store, known, hand_overs, removed, chance)
    check(any_store, known, hand_overs, removed, chance)
    assert any(execution.terminal for execution in known.values())
    assert any(use.store_bytes for use in any_store.daily_use(0, 10**6, NOW_S).values()) or seed != 1


def check(
    store: ExecutionStore,
    known: Mapping[str, Execution],
    hand_overs: Mapping[str, list[HandedOver]],
    removed: set[str],
    chance: random.Random,
) -> None:
    running = any(not known[name].terminal for name in hand_overs)  # without a time, no running service counts
    now_s, tenant = chance.choice([NOW_S] if running else [None, NOW_S]), chance.choice([None, "red"])
    first = chance.choice([0, 0, 9])
    last = chance.choice([10**6, 25])
    wanted = {
        key: use
        for key, use in use_of_all(known.values(), hand_overs, now_s).items()
        if first <= key.day <= last and tenant in (None, key.tenant)
    }
    answer = store.daily_use(first, last, now_s, tenant)
    assert answer.keys() == wanted.keys()
    for key, use in wanted.items():
        there = answer[key]
        assert (there.core_s, there.memory_byte_s, there.store_bytes) == pytest.approx(
            (use.core_s, use.memory_byte_s, use.store_bytes), rel=1e-9, abs=1e-6
        )
    states = [execution.state for execution in known.values() if execution.id not in removed]
    assert store.counts() == {state: states.count(state) for state in ExecutionState}


def ended(store: ExecutionStore) -> Execution:
    one = store.submit(execution(1), "request")
    services = one.core_services()
    placed = tuple(ev.Placement(service_id=s.id, node="n") for s in services)
    told: list[ev.Event] = [ev.Queued(at_s=10.0), ev.StartPlanned(at_s=10.0, placements=placed)]
    for service in services:
        told += [
            ev.ServiceStarting(at_s=10.0, service_id=service.id),
            ev.ServiceStarted(at_s=10.0, service_id=service.id),
        ]
    told.append(ev.Stopping(at_s=20.0, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED))
    told += [ev.ServiceEnded(at_s=20.0, service_id=s.id, cause=Cause.EXITED) for s in one.services]
    return store.append(one.id, [*told, ev.Ended(at_s=20.0)], one.version, None)


def test_running_execution_counts_only_if_a_time_is_given(any_store: ExecutionStore) -> None:
    one = any_store.submit(execution(1), "request")
    placed = tuple(ev.Placement(service_id=s.id, node="n") for s in one.core_services())
    told: list[ev.Event] = [ev.Queued(at_s=10.0), ev.StartPlanned(at_s=10.0, placements=placed)]
    first = one.core_services()[0].id
    told += [ev.ServiceStarting(at_s=10.0, service_id=first), ev.ServiceStarted(at_s=10.0, service_id=first)]
    any_store.append(one.id, told, one.version, None)
    assert any_store.daily_use(0, 10, None) == {}
    assert any_store.daily_use(0, 10, 20.0) != {}


def test_summed_up_executions_are_not_read_again(bounded_store: PostgresStore, postgres_url: str) -> None:
    """Neither by the use by day nor by the counts: of 1,501 executions, their services and the journal."""
    copy_execution(postgres_url, ended(bounded_store).id, COPIES)
    while bounded_store.sum_up():
        pass
    with statements_of(bounded_store) as asked:
        (use,) = bounded_store.daily_use(0, 10, NOW_S).values()
        assert bounded_store.counts()[ExecutionState.SUCCEEDED] == COPIES + 1
    assert use.core_s == pytest.approx(20.0 * (COPIES + 1))
    assert len(asked) == 8
    assert rows_read(postgres_url, asked) <= 20


def test_a_long_queue_costs_its_own_length(bounded_store: PostgresStore, postgres_url: str) -> None:
    """The use by day does not read services that never started."""
    waiting = bounded_store.submit(execution(1), "request")
    copy_execution(postgres_url, waiting.id, COPIES)
    while bounded_store.sum_up():
        pass
    with statements_of(bounded_store) as asked:
        assert bounded_store.daily_use(0, 10, NOW_S) == {}
    assert rows_read(postgres_url, asked) <= 2 * (COPIES + 1) + 20


def test_summing_up_is_bounded_and_goes_on_where_it_stopped(
    bounded_store: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_execution(postgres_url, ended(bounded_store).id, COPIES)
    monkeypatch.setattr(sums, "ENTRIES_AT_ONCE", 5000)
    steps = 1
    while bounded_store.sum_up():
        steps += 1
    newest = bounded_store.last_journal_id()
    assert steps == -(-newest // 5000)
    assert not bounded_store.sum_up()
    assert bounded_store.counts()[ExecutionState.SUCCEEDED] == COPIES + 1
