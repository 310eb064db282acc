"""The plan for an application, and the smallest change with which it would start."""

from __future__ import annotations

from dataclasses import replace

from tests.support.limits import tenant_limit, user_limit
from tests.support.scheduling import FIFO, GIB, component, node, queued, started
from zoe_lib.domain.executions.execution import new_services
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.what_if.proposal import ComponentChange, ComponentPart, PlanProposal, propose, starts_together

NODES = (node("n1", cores=8, memory_gib=32), node("n2", cores=8, memory_gib=32))
BUSY = started(queued("busy", component("b", cores=4, memory_gib=16)), "n1")
NOW = Snapshot(10.0, NODES, (), (BUSY,))
POLICY = FIFO


def test_fitting_application_starts_now() -> None:
    assert propose(NOW, POLICY, queued("x", component(cores=8, memory_gib=32))) == PlanProposal(True)


def test_the_smallest_share_is_taken_off_the_component_that_matters() -> None:
    wanted = queued("x", component("large", memory_gib=24, essential_count=2), component("small", memory_gib=1))
    found = propose(NOW, POLICY, wanted)
    assert not found.starts_now
    assert found.reason is not None
    assert found.reason.code is ReasonCode.NO_RESOURCES
    assert found.change == ComponentChange("large", ComponentPart.MEMORY, 24 * GIB, 16 * GIB)


def test_the_change_is_enough_and_one_step_more_is_not() -> None:
    for cores, memory_gib, count in ((1, 20, 2), (5, 1, 3), (2, 9, 5), (8, 32, 2)):
        wanted = queued("x", component("c", cores=cores, memory_gib=memory_gib, essential_count=count))
        change = propose(NOW, POLICY, wanted).change
        assert change is not None
        [one] = wanted.application.components
        reservation = one.reservation
        if change.part is ComponentPart.ESSENTIAL_COUNT:
            smaller = replace(one, essential_count=change.after)
        elif change.part is ComponentPart.MEMORY:
            smaller = replace(one, reservation=replace(reservation, memory_bytes=change.after))
        else:
            smaller = replace(one, reservation=replace(reservation, cores_milli=change.after))
        application = replace(wanted.application, components=(smaller,))
        changed = replace(wanted, application=application, services=new_services("x", application, 1))
        assert "x" in schedule(replace(NOW, queued=(changed,)), POLICY).starts


def test_no_more_is_taken_than_needed() -> None:
    for free, wanted in ((2.9, 4.0), (2.0, 3.0), (7.3, 8.0)):
        snapshot = Snapshot(10.0, (node("n1", cores=free, memory_gib=32),))
        change = propose(snapshot, POLICY, queued("x", component("c", cores=wanted))).change
        assert change == ComponentChange("c", ComponentPart.CORES, round(wanted * 1000), round(free * 1000))


def test_where_others_come_first_no_change_helps_and_they_are_counted() -> None:
    blocked = queued("first", component(cores=8, memory_gib=32, essential_count=2), at_s=1)
    found = propose(replace(NOW, queued=(blocked,)), POLICY, queued("x", component(cores=1), at_s=9))
    assert (found.starts_now, found.ahead, found.change) == (False, 1, None)
    assert found.reason is not None
    assert found.reason.code is ReasonCode.BEHIND_IN_QUEUE


def test_in_a_very_long_queue_no_change_is_looked_for_and_that_is_said() -> None:
    wanted = queued("x", component("c", cores=12), priority=1)
    for ahead, sought in ((2000, True), (2001, False)):
        waiting = tuple(queued(f"e{i:04}", component(cores=12)) for i in range(ahead))
        found = propose(replace(NOW, queued=waiting), POLICY, wanted)
        assert (found.change is not None, found.change_sought) == (sought, sought)


def test_within_a_limit_less_helps() -> None:
    for limited in (
        replace(FIFO, tenant_limits={"*": tenant_limit(cores_milli=6000)}),
        replace(FIFO, user_limits={"*": user_limit(cores_milli=6000)}),
    ):
        found = propose(NOW, limited, queued("x", component("c", cores=4)))
        assert found.change == ComponentChange("c", ComponentPart.CORES, 4000, 2000)


def test_of_an_array_as_many_start_as_have_room_and_the_next_says_why_not() -> None:
    indices = [queued(f"i{index}", component(cores=4, memory_gib=8)) for index in range(5)]
    starts, why = starts_together(NOW, POLICY, indices)
    assert starts == 3  # 4 cores of 16 are taken
    assert why is not None
    assert why.code is ReasonCode.NO_RESOURCES
    assert starts_together(NOW, POLICY, indices[:3]) == (3, None)
