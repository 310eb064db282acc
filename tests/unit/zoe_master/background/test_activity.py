"""Detection of computing executions by the usage of services."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zoe_lib.domain.cluster.policy import Policy
from zoe_master.backends.base import Usage
from zoe_master.background.activity import ServiceActivity

POLICY = Policy(idle_after_s=3600.0, idle_cores_milli=100)


def used(at_s: float, cpu_s: float, service: str = "s", execution: str = "x") -> Usage:
    return Usage(service, execution, "n1", cpu_s, 1, at_s)


def told(*rounds: list[Usage], policy: Policy = POLICY) -> list[dict[str, float]]:
    work = ServiceActivity()
    return [work.last_computing(usage, policy) for usage in rounds]


def test_a_tenth_of_a_core_over_a_minute_is_work() -> None:
    assert told([used(0, 50)], [used(30, 53)], [used(60, 56)], [used(120, 61.9)]) == [{}, {}, {"x": 60}, {}]


def test_a_burst_is_averaged_over_the_minute() -> None:
    assert told([used(0, 0)], [used(5, 5)], [used(60, 5.9)]) == [{}, {}, {}]


def test_one_of_its_services_is_enough() -> None:
    both = [[used(at_s, 0, "a"), used(at_s, at_s, "b")] for at_s in (0.0, 60.0)]
    assert told(*both) == [{}, {"x": 60}]


def test_one_that_was_started_again_is_counted_from_then() -> None:
    assert told([used(0, 100)], [used(30, 1)], [used(61, 1)], [used(90, 31)]) == [{}, {}, {}, {"x": 90}]


def test_one_that_has_gone_is_forgotten() -> None:
    assert told([used(0, 0)], [], [used(60, 60)], [used(120, 120)]) == [{}, {}, {}, {"x": 120}]


def test_the_minute_is_shorter_where_idleness_comes_sooner() -> None:
    assert told([used(0, 0)], [used(5, 1)], policy=replace(POLICY, idle_after_s=10.0)) == [{}, {"x": 5}]


@pytest.mark.parametrize("change", [{"idle_after_s": 0.0}, {"idle_cores_milli": 0}])
def test_no_activity_is_reported_unless_requested(change: dict[str, float]) -> None:
    assert told([used(0, 0)], [used(60, 60)], policy=replace(POLICY, **change)) == [{}, {}]
