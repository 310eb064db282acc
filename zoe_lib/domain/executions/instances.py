"""How many instances of a component run, are preferred, and are possible."""

from __future__ import annotations

from collections.abc import Collection

from zoe_lib.domain.executions.execution import Execution, ServiceId
from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class ComponentCounts:
    """Instances of a component with elastic ones: with a place, preferred, and at most."""

    component: str
    given: int
    preferred: int
    total: int

    @property
    def is_short(self) -> bool:
        """Return whether fewer than preferred have a place."""
        return self.given < self.preferred


def instance_counts(execution: Execution, placed: Collection[ServiceId] = ()) -> tuple[ComponentCounts, ...]:
    """Return the counts of each component with elastic instances; `placed`: services that a plan places."""
    given: dict[str, int] = {}
    for service in execution.current():
        has_place = (service.alive and service.node is not None) or service.id in placed
        given[service.component] = given.get(service.component, 0) + has_place
    return tuple(
        ComponentCounts(
            c.name, given.get(c.name, 0), min(c.preferred_count or c.total_count, c.total_count), c.total_count
        )
        for c in execution.application.components
        if c.elastic_count
    )
