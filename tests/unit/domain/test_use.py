"""Use is split at midnight UTC, and of services that ran."""

from __future__ import annotations

from dataclasses import replace

from tests.support.applications import GIB, application, component, execution
from zoe_lib.domain.execution import Mark, new_services
from zoe_lib.domain.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.domain.use import DAY_S, DayOfUser, Use, daily_use


def test_what_runs_counts_until_now_and_granted_bandwidth_while_it_was_granted() -> None:
    wanted = StorageDemand((), (), Bandwidth(100, 20, Guarantee.REQUIRED))
    one = execution(1, application=replace(application(component("worker", 2)), storage=wanted))
    ran = replace(new_services(one.id, one.application, 1)[0], started_at_s=10.0)
    runs = replace(one, services=(ran,), marks={Mark.STORAGE_GRANTED: 5.0})
    assert daily_use([runs]) == {}
    assert daily_use([runs], 20.0) == {DayOfUser(0, "iostack", "ada"): Use(10.0, 10.0 * GIB, 120 * 15.0)}
    ended = replace(runs, marks={**runs.marks, Mark.ENDED: 15.0}, services=(replace(ran, ended_at_s=15.0),))
    assert daily_use([ended], 20.0) == {DayOfUser(0, "iostack", "ada"): Use(5.0, 5.0 * GIB, 120 * 10.0)}


def test_a_service_over_three_days_and_one_that_never_ran() -> None:
    one = execution(1, application=application(component("worker", 2)))
    ran, never = new_services(one.id, one.application, 1)
    ran = replace(ran, started_at_s=DAY_S - 1, ended_at_s=2 * DAY_S + 2)
    found = daily_use([replace(one, services=(ran, replace(never, ended_at_s=5.0)))])
    assert found == {
        DayOfUser(0, "iostack", "ada"): Use(1.0, 1.0 * GIB),
        DayOfUser(1, "iostack", "ada"): Use(DAY_S, DAY_S * GIB),
        DayOfUser(2, "iostack", "ada"): Use(2.0, 2.0 * GIB),
    }
