from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import component, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.events import StorageGranted
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.executions.promises import (
    BandwidthGuarantee,
    Rates,
    awaits_grant,
    by_tenant,
    promises,
    refusal_reason,
)
from zoe_lib.domain.lifecycle.consequences import may_start, settle
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand

REQUIRED, PREFERRED = Guarantee.REQUIRED, Guarantee.PREFERRED


def running(name: str, read: int | None, guarantee: Guarantee, tenant: str = "t", **more: int) -> Execution:
    demand = StorageDemand(bandwidth=Bandwidth(read, more.get("write"), guarantee))
    begun = started(queued(name, component(), storage=demand), "n")
    return replace(begun, tenant=tenant, marks=dict.fromkeys(begun.marks, more.get("at_s", 0)))


@pytest.mark.parametrize(
    ("wanted", "room", "fits"),
    [
        (Rates(5, 0), Rates(5, 0), True),
        (Rates(6, 0), Rates(5, 9), False),
        (Rates(0, 1), Rates(9, 0), False),
        (Rates(1, 0), Rates(1, -7), True),
    ],
)
def test_both_directions_must_have_room_but_only_where_something_is_asked(
    wanted: Rates, room: Rates, fits: bool
) -> None:
    assert wanted.fits_in(room) is fits


def test_required_bandwidth_comes_first_then_preferred_in_order() -> None:
    active = [
        running("late", 30, PREFERRED, at_s=3),
        running("early", 30, PREFERRED, at_s=1),
        running("required", 60, REQUIRED, at_s=2),
        running("small", 10, PREFERRED, "u", at_s=4),
        running("none", None, PREFERRED, write=200),
    ]
    promised = promises(active, Rates(100, 100))
    assert promised == (
        BandwidthGuarantee("required", "t", Rates(60), True),
        BandwidthGuarantee("early", "t", Rates(30), False),
        BandwidthGuarantee("small", "u", Rates(10), False),
    )
    assert by_tenant(promised) == {"t": Rates(90), "u": Rates(10)}


def test_preferred_bandwidth_yields_to_required_bandwidth() -> None:
    active = [running("required", 60, REQUIRED), running("preferred", 10, PREFERRED)]
    assert promises(active, Rates(50, 50)) == (BandwidthGuarantee("required", "t", Rates(60), True),)


def test_granted_bandwidth_comes_first_and_stays_with_unknown_supply() -> None:
    """As after another master took over: executions placed earlier and declined take nothing from it."""
    granted = [
        apply(entry, StorageGranted(at_s=5.0)) for entry in (running("r2", 5, REQUIRED), running("late", 30, PREFERRED))
    ]
    active = [running("early", 40, PREFERRED), running("r1", 5, REQUIRED), *granted]
    assert [promise.execution_id for promise in promises(active, None)] == ["r2", "r1", "late"]
    assert [promise.execution_id for promise in promises(active, Rates(50, 50))] == ["r2", "r1", "late"]
    assert [promise.execution_id for promise in promises(active, Rates(80, 80))] == ["r2", "r1", "late", "early"]


def test_required_bandwidth_delays_the_start_until_granted() -> None:
    waiting = running("r", 5, REQUIRED)
    assert awaits_grant(waiting)
    assert not list(may_start(waiting, 10.0))
    granted = apply(waiting, StorageGranted(at_s=2.0, read_bytes_per_s=5))
    assert len(list(may_start(granted, 10.0))) == 1
    assert len(list(may_start(running("p", 5, PREFERRED), 10.0))) == 1


def test_withdrawn_required_bandwidth_is_awaited_before_the_first_start() -> None:
    withdrawn = ev.StorageWithdrawn(at_s=3.0, why="unknown tenant")
    granted = apply(running("r", 5, REQUIRED), StorageGranted(at_s=2.0, read_bytes_per_s=5))
    waiting = apply(granted, withdrawn)
    assert awaits_grant(waiting)
    assert not list(may_start(waiting, 10.0))
    reason = refusal_reason(waiting)
    assert reason is not None
    assert reason.sentence.endswith(": unknown tenant")
    [service] = granted.services
    gone = apply(waiting, ev.ServiceEnded(at_s=4.0, service_id=service.id, cause=Cause.STOPPED))
    assert awaits_grant(gone), "a service that ended before its start needed nothing"
    begun = apply(apply(granted, ev.ServiceStarting(at_s=2.0, service_id=service.id)), withdrawn)
    assert not awaits_grant(begun)
    assert refusal_reason(begun) is None
    settled, events = settle(begun, 1e6, Policy(), "tick")
    assert (settled, events) == (begun, []), "it goes on, however long the policy would have waited"


def test_one_that_requires_bandwidth_waits_with_what_the_controller_said_until_it_is_granted_or_placed_again() -> None:
    told = apply(running("r", 5, REQUIRED), ev.StorageRefused(at_s=2.0, why="unknown tenant"))
    reason = refusal_reason(told)
    assert reason is not None
    assert reason.code is ReasonCode.STORAGE_REFUSED
    assert reason.sentence.endswith(": unknown tenant")
    assert refusal_reason(apply(told, StorageGranted(at_s=3.0, read_bytes_per_s=5))) is None
    gone = [ev.ServiceEnded(at_s=9.0, service_id=s.id, cause=Cause.STOPPED) for s in told.services]
    stopping = ev.Stopping(at_s=9.0, outcome=Outcome.FAILED, cause=Cause.STORAGE_UNAVAILABLE)
    waiting = told
    for event in (stopping, *gone, ev.Requeued(at_s=9.0, not_before_s=20.0)):
        waiting = apply(waiting, event)
    assert (waiting.state, refusal_reason(waiting)) == (ExecutionState.QUEUED, reason)
    places = tuple(ev.Placement(service_id=s.id, node="n") for s in waiting.current())
    assert refusal_reason(apply(waiting, ev.StartPlanned(at_s=30.0, placements=places))) is None


def test_one_that_prefers_bandwidth_does_not_wait_for_it_whatever_was_said() -> None:
    told = apply(running("p", 5, PREFERRED), ev.StorageDeclined(at_s=2.0, why="unknown tenant"))
    assert told.storage_problem == "unknown tenant"
    assert refusal_reason(told) is None
