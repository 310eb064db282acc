"""Use of started services, split at midnight UTC."""

from __future__ import annotations

from dataclasses import replace

from tests.support.applications import GIB, application, component, execution
from tests.support.scheduling import queued, started
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Mark, Outcome, new_services
from zoe_lib.domain.executions.use import DAY_S, DayOfUser, ResourceSeconds, daily_use
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand


def test_running_execution_counts_until_now_and_bandwidth_while_granted() -> None:
    wanted = StorageDemand((), (), Bandwidth(100, 20, Guarantee.REQUIRED))
    one = execution(1, application=replace(application(component("worker", 2)), storage=wanted))
    ran = replace(new_services(one.id, one.application, 1)[0], started_at_s=10.0)
    runs = replace(one, services=(ran,), marks={Mark.STORAGE_GRANTED: 5.0})
    assert daily_use([runs]) == {}
    assert daily_use([runs], 20.0) == {DayOfUser(0, "iostack", "ada"): ResourceSeconds(10.0, 10.0 * GIB, 120 * 15.0)}
    ended = replace(runs, marks={**runs.marks, Mark.ENDED: 15.0}, services=(replace(ran, ended_at_s=15.0),))
    assert daily_use([ended], 20.0) == {DayOfUser(0, "iostack", "ada"): ResourceSeconds(5.0, 5.0 * GIB, 120 * 10.0)}


def test_granted_bandwidth_counts_only_while_it_is_granted_whatever_the_day_or_the_try() -> None:
    wanted = StorageDemand((), (), Bandwidth(100, 20, Guarantee.PREFERRED))
    one = started(queued("one", storage=wanted), "n")
    at_s = [DAY_S - 10, DAY_S + 5, DAY_S + 20, DAY_S + 21]
    for granted_s, withdrawn_s in ((at_s[0], at_s[1]), (at_s[2], at_s[3])):
        assert daily_use([one], granted_s) == daily_use([one], granted_s + 99.0), "nothing while it is not"
        one = apply(one, ev.StorageGranted(at_s=granted_s))
        assert daily_use([one], withdrawn_s) != daily_use([one], granted_s)
        one = apply(one, ev.StorageWithdrawn(at_s=withdrawn_s, why="promised to others"))
    first = {0: 120 * 10.0, 1: 120 * 6.0}
    assert stored(one, DAY_S + 100) == first
    [service] = one.services
    tried_again = [
        ev.StorageGranted(at_s=DAY_S + 30),
        ev.Stopping(at_s=DAY_S + 40, outcome=Outcome.FAILED, cause=Cause.NODE_LOST),
        ev.ServiceEnded(at_s=DAY_S + 40, service_id=service.id, cause=Cause.STOPPED),
        ev.Requeued(at_s=DAY_S + 42),
    ]
    for event in tried_again:
        one = apply(one, event)
    assert stored(one, DAY_S + 100) == {0: 120 * 10.0, 1: 120 * 18.0}


def stored(one: Execution, now_s: float) -> dict[int, float]:
    return {key.day: use.store_bytes for key, use in daily_use([one], now_s).items()}


def test_a_service_over_three_days_and_one_that_never_ran() -> None:
    one = execution(1, application=application(component("worker", 2)))
    ran, never = new_services(one.id, one.application, 1)
    ran = replace(ran, started_at_s=DAY_S - 1, ended_at_s=2 * DAY_S + 2)
    found = daily_use([replace(one, services=(ran, replace(never, ended_at_s=5.0)))])
    assert found == {
        DayOfUser(0, "iostack", "ada"): ResourceSeconds(1.0, 1.0 * GIB),
        DayOfUser(1, "iostack", "ada"): ResourceSeconds(DAY_S, DAY_S * GIB),
        DayOfUser(2, "iostack", "ada"): ResourceSeconds(2.0, 2.0 * GIB),
    }
