"""Room at later times: between bookings, after running executions, and within the share of promises."""

from __future__ import annotations

import pytest

from tests.support.scheduling import GIB, component, node, queued, started
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.finish_times import FinishTerms, Promise
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.promising.future import FutureNodes

WHOLE = Resources(8000, GIB)
TERMS = FinishTerms(finish_s=0.0, confidence=0.9, elastic=0, run_s=50.0, begin_by_s=0.0)


def wanted(cores: float = 8) -> Execution:
    return changed(queued("w", component(cores=cores)), promise=Promise(TERMS, 0.0))


def later(*bookings: Booking, active: tuple[Execution, ...] = (), **policy: object) -> FutureNodes:
    rules = Policy(promise_share=1.0, **policy)  # type: ignore[arg-type]
    return FutureNodes(Snapshot(0.0, (node("n1"),), active=active, bookings=bookings), rules)


@pytest.mark.parametrize("begin_by_s", [100.0, 149.0, 150.0, 200.0, 299.0])
def test_room_in_time_is_also_found_for_later_times(begin_by_s: float) -> None:
    """Another one is booked from 150 to 300; 50 seconds fit before it."""
    found = later(Booking("other", 150.0, 300.0, (("n1", WHOLE),))).latest(wanted(), begin_by_s, 50.0)
    assert found is not None
    assert found.begins_s == min(begin_by_s, 100.0)
    assert found.ends_s == found.begins_s + 50.0


def test_running_execution_is_expected_to_end_with_caution() -> None:
    busy = started(queued("r", component(cores=8), expected_run_s=100.0), "n1")
    one = later(active=(busy,))
    assert one.latest(wanted(), 140.0, 50.0) is None, "it is relied on to have ended after 1.5 times its run time"
    assert one.latest(wanted(), 160.0, 50.0) is not None
    found = one.earliest(wanted(), 50.0)
    assert found is not None
    assert found.begins_s == 151.0


def test_endless_service_leaves_no_room_unless_it_is_elastic() -> None:
    essential = started(queued("r", component(cores=8)), "n1")
    assert later(active=(essential,)).earliest(wanted(), 50.0) is None
    some = queued("r", component("a", cores=1), component("b", cores=7, essential_count=0, total_count=1))
    elastic = started(some, "n1", "n1")
    assert later(active=(elastic,)).earliest(wanted(7), 50.0) is not None
    assert later(active=(elastic,), preemption="none").earliest(wanted(7), 50.0) is None


def test_maintenance_is_no_time_to_be_booked() -> None:
    held = changed(node("n1"), holds=(NodeHold(None, 100.0, 200.0),))
    room = FutureNodes(Snapshot(0.0, (held,)), Policy(promise_share=1.0))
    found = room.latest(wanted(), 160.0, 50.0)
    assert found is None or found.ends_s <= 100.0 or found.begins_s >= 200.0
    assert room.latest(wanted(), 40.0, 50.0) is not None


def test_promises_hold_no_more_than_their_share_at_any_time() -> None:
    half = Snapshot(0.0, (node("n1"), node("n2")), bookings=(Booking("x", 100.0, 200.0, (("n1", WHOLE),)),))
    room = FutureNodes(half, Policy(promise_share=0.5))
    assert room.latest(wanted(), 120.0, 50.0) == room.latest(wanted(), 50.0, 50.0), "before it"
    assert room.latest(wanted(), 250.0, 50.0) is not None


def test_each_offer_keeps_its_part_of_the_share_at_its_time() -> None:
    """Of two offers to one execution, the smaller one is later: it may be accepted, too."""
    offers = (
        Booking("x#1", 100.0, 200.0, (("n1", WHOLE),)),
        Booking("x#2", 300.0, 400.0, (("n1", Resources(4000, GIB)),)),
    )
    room = FutureNodes(Snapshot(0.0, (node("n1"), node("n2")), bookings=offers), Policy(promise_share=0.5))
    assert room.latest(wanted(5), 320.0, 50.0, from_s=310.0) is None
    assert room.latest(wanted(4), 320.0, 50.0, from_s=310.0) is not None
    assert room.latest(wanted(8), 230.0, 50.0, from_s=230.0) is not None, "between the two"


def test_a_booking_is_checked_again() -> None:
    room = later(Booking("other", 150.0, 300.0, (("n1", Resources(4000, GIB)),)))
    own = Booking("w", 200.0, 250.0, (("n1", Resources(4000, GIB)),))
    assert room.still_free([own])
    assert not room.still_free([changed(own, places=(("n1", Resources(5000, GIB)),))])
    assert not room.still_free([changed(own, places=(("gone", Resources(1000, GIB)),))])
    room.with_bookings([own])
    assert not room.still_free([changed(own, execution_id="third")])
    assert room.still_free([own]), "it is not in its own way"
