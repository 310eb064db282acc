from __future__ import annotations

from tests.support.scheduling import component, queued, started
from zoe_lib.domain.executions.instances import ComponentCounts, instance_counts


def test_given_preferred_and_possible_instances_are_counted() -> None:
    worker = component("worker", essential_count=1, total_count=4, preferred_count=3)
    execution = started(queued("e", component("lone"), worker), "n1", "n1", "n1")
    assert instance_counts(execution) == (ComponentCounts("worker", 2, 3, 4),)


def test_services_that_a_plan_places_count() -> None:
    execution = queued("e", component("worker", essential_count=1, total_count=4))
    placed = {service.id for service in execution.current()[:3]}
    assert instance_counts(execution, placed) == (ComponentCounts("worker", 3, 4, 4),)
