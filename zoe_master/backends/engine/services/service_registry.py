"""All known services, shared by the back-end's threads, which report to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Cause, ServiceId
from zoe_master.backends.base import Observation, ObservedState, ServiceStart
from zoe_master.backends.engine.daemon.container_facts import ContainerFacts
from zoe_master.backends.engine.errors import ErrorText
from zoe_master.backends.engine.services.observation import lost_observation, never_ran
from zoe_master.backends.engine.services.records import FoundServices, Record
from zoe_master.backends.engine.services.service_files import Mark, ServiceFiles
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.engine.spec.naming.names import host_name
from zoe_master.waker import TickWaker

AnyRecord = TypeVar("AnyRecord", bound=Record)


class ServiceRegistry(Generic[AnyRecord]):
    """Every change passes through here: it stores marks, and wakes the master if an observation changes.

    kind: the class of records. derive: returns the present state of a record. output_kept: returns whether all output
    of a service is kept here.
    """

    def __init__(
        self,
        kind: type[AnyRecord],
        derive: Callable[[AnyRecord], Observation],
        marks: ServiceFiles,
        waker: TickWaker,
        output_kept: Callable[[ServiceId], bool],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._kind = kind
        self._derive = derive
        self._clock = clock
        self.lock = threading.RLock()
        self.marks = marks
        self._waker = waker
        self._output_kept = output_kept
        self._records: dict[ServiceId, AnyRecord] = {}

    # Adding and removing

    def add(self, start: ServiceStart) -> bool:
        """Add a service that is handed over; False if it is known or was forgotten."""
        with self.lock:
            mark = self.marks.read(start.service_id) or Mark()
            if start.service_id in self._records or mark.forgotten:
                return False
            now_s = self._clock.now_s()
            first = Observation(start.service_id, start.execution_id, ObservedState.STARTING, now_s, start.node)
            component = start.component
            self._records[start.service_id] = self._kind(
                service_id=start.service_id,
                attempt=Attempt(start.execution_id, start.attempt),
                tenant=start.tenant,
                node=start.node,
                host=host_name(component.name, start.index),
                created_at_s=now_s,
                probe=component.readiness,
                stop_grace_s=component.stop_grace_s,
                ports={port.name: port.number for port in component.ports},
                mark=mark,
                observation=first,
                user=start.user,
            )
            return True

    def adopt(self, found: FoundServices) -> list[AnyRecord]:
        """Add the services that an earlier back-end began, and return the records of all of them."""
        with self.lock:
            records = []
            for service, host in zip(found.services, found.hosts, strict=True):
                if service not in self._records:
                    self._records[service] = self._adopted_record(found, service, host)
                records.append(self._records[service])
                self._refresh(self._records[service])
            return records

    def adopt_ended(self) -> None:
        """Add services that ended and left nothing else, until the journal has their end."""
        with self.lock:
            for service, mark in self.marks.marks():
                if service in self._records or mark.forgotten or mark.end is None:
                    continue
                end = mark.end
                self._records[service] = self._kind(
                    service, Attempt(end.execution_id, 0), "", end.node, "", end.at_s, None, 0.0, {}, mark, end
                )

    def drop(self, service: ServiceId) -> None:
        """Remove a service; only its mark and its output stay."""
        with self.lock:
            self._records.pop(service, None)

    def _adopted_record(self, found: FoundServices, service: ServiceId, host: str) -> AnyRecord:
        starting, execution_id = ObservedState.STARTING, found.attempt.execution_id
        return self._kind(
            service_id=service,
            attempt=found.attempt,
            tenant=found.tenant,
            user=found.user,
            node=found.node,
            host=host,
            created_at_s=found.created_at_s,
            probe=found.probe,
            stop_grace_s=found.stop_grace_s,
            ports=found.ports,
            mark=self.marks.read(service) or Mark(),
            observation=Observation(service, execution_id, starting, found.created_at_s, found.node),
            collected=self._output_kept(service),
        )

    # Reading

    def get(self, service: ServiceId) -> AnyRecord | None:
        """Return the record of a service."""
        with self.lock:
            return self._records.get(service)

    def has_ended(self, service: ServiceId) -> bool:
        """Return whether the end of a service is known, or the service is unknown."""
        record = self.get(service)
        return record is None or record.final

    def records(self) -> list[AnyRecord]:
        """Return all records, in order of hand-over."""
        with self.lock:
            return list(self._records.values())

    def attempts(self) -> set[Attempt]:
        """Return the attempts with objects left here."""
        with self.lock:
            return {record.attempt for record in self._records.values()}

    # Reports

    def hold_up(self, services: Sequence[ServiceId], why: ErrorText) -> None:
        """Record why these services are not handed to an engine yet; NOTHING once they are."""
        with self.lock:
            for record in [record for service in services if (record := self._records.get(service)) is not None]:
                record.obstacle = why
                self._refresh(record)

    def container_seen(self, facts: ContainerFacts, after_gap: bool) -> AnyRecord | None:
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

    def ready(self, exec_id: str, exit_code: int, at_s: float) -> None:
        """Process the end of a readiness exec."""
        with self.lock:
            for record in self._records.values():
                if record.asking == exec_id:
                    record.asking = None
                    if exit_code == 0 and record.mark.stop_cause is None:
                        self._mark(record, replace(record.mark, ready_at_s=at_s))
                    return

    def stopping(self, service: ServiceId, cause: Cause) -> AnyRecord | None:
        """Record that the service must end; return its record unless it is unknown, ended, or already stopping."""
        with self.lock:
            record = self._records.get(service)
            if record is None or record.final or record.mark.stop_cause is not None:
                return None
            self._mark(record, replace(record.mark, stop_cause=cause, stop_at_s=self._clock.now_s()))
            return record

    def end_unstarted(self, service: ServiceId, cause: Cause, message: str = "", detail: str = "") -> None:
        """End a service that will not begin any more."""
        with self.lock:
            record = self._records.get(service)
            if record is not None and not record.final:
                self._mark(
                    record,
                    replace(record.mark, end=never_ran(record, self._clock.now_s(), cause, ErrorText(message, detail))),
                )

    def end_gone(self, record: AnyRecord, message: str) -> None:
        """End a service whose container was removed by others."""
        with self.lock:
            if not record.final:
                cause = record.mark.stop_cause or Cause.KILLED
                end = never_ran(record, self._clock.now_s(), cause, ErrorText(message))
                started_at_s = record.container.started_at_s if record.container else None
                self._mark(record, replace(record.mark, end=replace(end, started_at_s=started_at_s)))

    def lose(self, record: AnyRecord, message: str) -> None:
        """Mark a service as lost, with its node."""
        with self.lock:
            if not record.final:
                self._mark(record, replace(record.mark, end=lost_observation(record, self._clock.now_s(), message)))

    def forget(self, service: ServiceId) -> AnyRecord | None:
        """Forget a service whose end the journal has; return the record if it had ended."""
        with self.lock:
            record = self._records.get(service)
            if record is None or not record.final or record.mark.forgotten:
                return None
            self._mark(record, replace(record.mark, forgotten=True))
            return record

    def _mark(self, record: AnyRecord, mark: Mark) -> None:
        record.mark = mark
        self.marks.write(record.service_id, mark)
        self._refresh(record)

    def _refresh(self, record: AnyRecord) -> None:
        seen = self._derive(record)
        if seen.state is ObservedState.ENDED and record.mark.end is None:
            record.mark = replace(record.mark, end=seen)
            self.marks.write(record.service_id, record.mark)
        if seen != record.observation:
            record.observation = seen
            self._waker.wake()


Services = ServiceRegistry[Any]
"""A registry of any kind of records, for parts that need only what all kinds have."""
