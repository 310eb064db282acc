"""All known services, shared by the back-end's threads, which report to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Cause, ServiceId
from zoe_master.backends.base import Observation, ObservedState, ServiceStart
from zoe_master.backends.swarm.engine.docker_facts import ContainerFacts, TaskFacts
from zoe_master.backends.swarm.errors import ErrorText
from zoe_master.backends.swarm.services.observation import (
    by_task,
    derive_observation,
    lost_observation,
    never_ran,
    task_over,
)
from zoe_master.backends.swarm.services.records import FoundServiceGroup, Record, ServiceGroup, handed_over
from zoe_master.backends.swarm.services.service_files import Mark, ServiceFiles
from zoe_master.backends.swarm.spec.naming.attempts import Attempt
from zoe_master.backends.swarm.spec.naming.names import host_name
from zoe_master.waker import TickWaker


class ServiceRegistry:
    """Every change passes through here: it stores marks, and wakes the master if an observation changes."""

    def __init__(
        self,
        marks: ServiceFiles,
        waker: TickWaker,
        output_kept: Callable[[ServiceId], bool],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self.lock = threading.RLock()
        self.marks = marks
        self._waker = waker
        self._output_kept = output_kept
        self._records: dict[ServiceId, Record] = {}

    # Adding and removing

    def add(self, start: ServiceStart) -> bool:
        """Add a service that is handed over; False if it is known or was forgotten."""
        with self.lock:
            mark = self.marks.read(start.service_id) or Mark()
            if start.service_id in self._records or mark.forgotten:
                return False
            now_s = self._clock.now_s()
            first = Observation(start.service_id, start.execution_id, ObservedState.STARTING, now_s, start.node)
            host = host_name(start.component.name, start.index)
            self._records[start.service_id] = handed_over(start, host, mark, now_s, first)
            return True

    def adopt(self, found: FoundServiceGroup) -> None:
        """Add the services of a Swarm service that an earlier back-end created."""
        with self.lock:
            for service, host in zip(found.group.members, found.hosts, strict=True):
                record = self._records.get(service) or self._adopted_record(found, service, host)
                record.group = found.group
                self._refresh(record)

    def adopt_ended(self) -> None:
        """Add services that ended without a Swarm service, until the journal has their end."""
        with self.lock:
            for service, mark in self.marks.marks():
                if service in self._records or mark.forgotten or mark.end is None:
                    continue
                end = mark.end
                self._records[service] = Record(
                    service, Attempt(end.execution_id, 0), "", end.node, "", end.at_s, None, 0.0, {}, mark, end
                )

    def drop(self, service: ServiceId) -> None:
        """Remove a service; only its mark and its output stay."""
        with self.lock:
            self._records.pop(service, None)

    def _adopted_record(self, service_group: FoundServiceGroup, service: ServiceId, host: str) -> Record:
        mark = self.marks.read(service) or Mark()
        first = Observation(
            service,
            service_group.attempt.execution_id,
            ObservedState.STARTING,
            service_group.created_at_s,
            service_group.node,
        )
        record = Record(
            service_id=service,
            attempt=service_group.attempt,
            tenant=service_group.tenant,
            user=service_group.user,
            node=service_group.node,
            host=host,
            created_at_s=service_group.created_at_s,
            probe=service_group.probe,
            stop_grace_s=service_group.stop_grace_s,
            ports=service_group.ports,
            proxied=service_group.proxied,
            # The first service of a component bears the gateway; it is also the first of its group.
            targets=service_group.targets if service == service_group.group.members[0] else (),
            mark=mark,
            observation=first,
            collected=self._output_kept(service),
        )
        self._records[service] = record
        return record

    # Reading

    def get(self, service: ServiceId) -> Record | None:
        """Return the record of a service."""
        with self.lock:
            return self._records.get(service)

    def has_ended(self, service: ServiceId) -> bool:
        """Return whether the end of a service is known, or the service is unknown."""
        record = self.get(service)
        return record is None or record.final

    def records(self) -> list[Record]:
        """Return all records, in order of hand-over."""
        with self.lock:
            return list(self._records.values())

    def attempts(self) -> set[Attempt]:
        """Return the attempts with objects left here."""
        with self.lock:
            return {record.attempt for record in self._records.values()}

    # Reports

    def set_group(self, services: Iterable[ServiceId], group: ServiceGroup) -> None:
        """Record that these services are now tasks of a Swarm service."""
        with self.lock:
            for service in services:
                self._records[service].group = group

    def container_seen(self, facts: ContainerFacts, after_gap: bool) -> Record | None:
        """Process an engine's report on one of our containers; return the record if the service is known."""
        with self.lock:
            record = self._records.get(facts.service_id)
            if record is None:
                return None
            before = record.container
            if before is not None and before.finished_at_s is not None:
                return record
            record.gap |= after_gap and before is not None and before.running
            record.container = facts
            self._refresh(record)
            return record

    def task_seen(self, service: ServiceId, task: TaskFacts) -> None:
        """Process the managers' report on a task."""
        with self.lock:
            record = self._records.get(service)
            if record is not None:
                record.task = task
                self._refresh(record)

    def ready(self, exec_id: str, exit_code: int, at_s: float) -> None:
        """Process the end of a readiness exec."""
        with self.lock:
            for record in self._records.values():
                if record.asking == exec_id:
                    record.asking = None
                    if exit_code == 0 and record.mark.stop_cause is None:
                        self._mark(record, replace(record.mark, ready_at_s=at_s))
                    return

    def stopping(self, service: ServiceId, cause: Cause) -> Record | None:
        """Record that the service must end; return its record unless it is unknown, ended, or already stopping."""
        with self.lock:
            record = self._records.get(service)
            if record is None or record.final or record.mark.stop_cause is not None:
                return None
            self._mark(record, replace(record.mark, stop_cause=cause, stop_at_s=self._clock.now_s()))
            return record

    def end_by_task(self, record: Record, why: str = "its engine does not answer") -> None:
        """End a service by the managers' report, since the engine does not answer; `why` is the reason."""
        with self.lock:
            if not record.final and record.task is not None and record.task.has_ended:
                self._mark(record, replace(record.mark, end=by_task(record, record.task, why)))

    def end_unbegun(self, record: Record) -> None:
        """End a service whose task has ended without a started container."""
        with self.lock:
            if not record.final and record.task is not None and record.task.has_ended:
                self._mark(record, replace(record.mark, end=task_over(record, record.task)))

    def end_unstarted(self, service: ServiceId, cause: Cause, message: str = "", detail: str = "") -> None:
        """End a service that will not begin any more."""
        with self.lock:
            record = self._records.get(service)
            if record is not None and not record.final:
                self._mark(
                    record,
                    replace(record.mark, end=never_ran(record, self._clock.now_s(), cause, ErrorText(message, detail))),
                )

    def lose(self, record: Record, message: str) -> None:
        """Mark a service as lost, with its node."""
        with self.lock:
            if not record.final:
                self._mark(record, replace(record.mark, end=lost_observation(record, self._clock.now_s(), message)))

    def forget(self, service: ServiceId) -> Record | None:
        """Forget a service whose end the journal has; return the record if it had ended."""
        with self.lock:
            record = self._records.get(service)
            if record is None or not record.final or record.mark.forgotten:
                return None
            self._mark(record, replace(record.mark, forgotten=True))
            return record

    def _mark(self, record: Record, mark: Mark) -> None:
        record.mark = mark
        self.marks.write(record.service_id, mark)
        self._refresh(record)

    def _refresh(self, record: Record) -> None:
        seen = derive_observation(record)
        if seen.state is ObservedState.ENDED and record.mark.end is None:
            record.mark = replace(record.mark, end=seen)
            self.marks.write(record.service_id, record.mark)
        if seen != record.observation:
            record.observation = seen
            self._waker.wake()
