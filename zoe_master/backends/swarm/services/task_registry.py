"""The registry of services that are tasks: it also takes the managers' reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.errors import NOTHING
from zoe_master.backends.engine.services.service_files import ServiceFiles
from zoe_master.backends.engine.services.service_registry import ServiceRegistry
from zoe_master.backends.swarm.facts import TaskFacts
from zoe_master.backends.swarm.services.task_observation import by_task, observe_task, task_over
from zoe_master.backends.swarm.services.task_records import FoundServiceGroup, ServiceGroup, TaskRecord
from zoe_master.backends.swarm.spec.targets import targets_of
from zoe_master.waker import TickWaker


class TaskRegistry(ServiceRegistry[TaskRecord]):
    """All known services with their tasks and Swarm services."""

    def __init__(
        self,
        marks: ServiceFiles,
        waker: TickWaker,
        output_kept: Callable[[ServiceId], bool],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        super().__init__(TaskRecord, observe_task, marks, waker, output_kept, clock)

    def add(self, start: ServiceStart) -> bool:
        """Add a service that is handed over; False if it is known or was forgotten."""
        with self.lock:
            added = super().add(start)
            if added:
                record = self._records[start.service_id]
                record.proxied = frozenset(port.name for port in start.component.ports if port.proxied)
                record.targets = targets_of(start)
            return added

    def adopt_group(self, found: FoundServiceGroup) -> None:
        """Add the services of a Swarm service that an earlier back-end created."""
        with self.lock:
            for place, record in enumerate(self.adopt(found.found)):
                record.group, record.proxied = found.group, found.proxied
                # The first service of a component bears the gateway; it is also the first of its group.
                record.targets = found.targets if place == 0 else ()

    def set_group(self, services: Iterable[ServiceId], group: ServiceGroup) -> None:
        """Record that these services are now tasks of a Swarm service."""
        with self.lock:
            for service in services:
                self._records[service].group = group
            self.hold_up(group.members, NOTHING)

    def task_seen(self, service: ServiceId, task: TaskFacts) -> None:
        """Process the managers' report on a task."""
        with self.lock:
            record = self._records.get(service)
            if record is not None:
                record.task = task
                self._refresh(record)

    def end_by_task(self, record: TaskRecord, why: str = "its engine does not answer") -> None:
        """End a service by the managers' report, since the engine does not answer; `why` is the reason."""
        with self.lock:
            if not record.final and record.task is not None and record.task.has_ended:
                self._mark(record, replace(record.mark, end=by_task(record, record.task, why)))

    def end_unbegun(self, record: TaskRecord) -> None:
        """End a service whose task has ended without a started container."""
        with self.lock:
            if not record.final and record.task is not None and record.task.has_ended:
                self._mark(record, replace(record.mark, end=task_over(record, record.task)))
