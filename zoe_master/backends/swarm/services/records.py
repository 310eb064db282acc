"""The back-end's records in memory of each service and of each Swarm service."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zoe_lib.domain.applications.application import Component, Probe, ProbeKind
from zoe_lib.domain.executions.execution import ExecutionId, ServiceId
from zoe_master.backends.base import Observation, ServiceStart
from zoe_master.backends.swarm.engine.docker_facts import ContainerFacts, TaskFacts, seconds
from zoe_master.backends.swarm.services.service_files import Mark
from zoe_master.backends.swarm.spec.naming import labels
from zoe_master.backends.swarm.spec.naming.attempts import Attempt, attempt_of
from zoe_master.backends.swarm.spec.targets import targets_of


@dataclass(slots=True)
class ServiceGroup:
    """A Swarm service. `members` are its tasks' services by slot, from 1."""

    group_id: str
    members: tuple[ServiceId, ...]
    removed: bool = False


@dataclass(slots=True)
class Record:
    """One service: the reports on it, and the last observation derived from them."""

    service_id: ServiceId
    attempt: Attempt
    tenant: str
    node: str
    host: str
    created_at_s: float
    probe: Probe | None
    stop_grace_s: float
    ports: Mapping[str, int]
    mark: Mark
    observation: Observation
    user: str = ""  # the user whose workspace it uses
    proxied: frozenset[str] = frozenset()
    targets: tuple[str, ...] = ()  # of the gateway that the service bears; empty if it bears none
    group: ServiceGroup | None = None
    container: ContainerFacts | None = None
    task: TaskFacts | None = None
    gap: bool = False  # its engine was not watched between its start and its end
    asking: str | None = None  # the readiness exec
    stop_sent: bool = False
    kill_at_s: float | None = None  # by the monotonic clock
    collected: bool = False
    copy_due_s: float | None = None  # due time of the next copy of its output while it runs
    output_lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def execution_id(self) -> ExecutionId:
        """Return the service's execution."""
        return self.attempt.execution_id

    @property
    def container_id(self) -> str:
        """Return the id from its engine, or from the managers if its engine has not reported it; empty while there is
        none.
        """
        if self.container is not None:
            return self.container.container_id
        return self.task.container_id if self.task is not None else ""

    @property
    def wants_gateway(self) -> bool:
        """Return whether the service needs a gateway beside it."""
        return bool(self.targets) and not self.leaving

    @property
    def final(self) -> bool:
        """Return whether it has ended or is lost."""
        return self.mark.end is not None

    @property
    def leaving(self) -> bool:
        """Return True once its stop is requested or it has ended."""
        return self.final or self.mark.stop_cause is not None

    @property
    def running(self) -> bool:
        """Return True while its container runs, as far as known."""
        return not self.final and self.container is not None and self.container.running


def handed_over(start: ServiceStart, host: str, mark: Mark, now_s: float, observation: Observation) -> Record:
    """Return the record of a service that was just handed over."""
    component: Component = start.component
    return Record(
        service_id=start.service_id,
        attempt=Attempt(start.execution_id, start.attempt),
        tenant=start.tenant,
        node=start.node,
        host=host,
        created_at_s=now_s,
        probe=component.readiness,
        stop_grace_s=component.stop_grace_s,
        ports={port.name: port.number for port in component.ports},
        proxied=frozenset(port.name for port in component.ports if port.proxied),
        targets=targets_of(start),
        mark=mark,
        observation=observation,
        user=start.user,
    )


@dataclass(frozen=True, slots=True)
class FoundServiceGroup:
    """A Swarm service of ours, as described by its labels."""

    group: ServiceGroup
    attempt: Attempt
    tenant: str
    user: str
    node: str
    hosts: tuple[str, ...]
    ports: Mapping[str, int]
    proxied: frozenset[str]
    targets: tuple[str, ...]
    probe: Probe | None
    stop_grace_s: float
    created_at_s: float


def found_group(service: Mapping[str, Any]) -> FoundServiceGroup:
    """Return the service for an entry of the managers' list that carries our labels."""
    tags = service["Spec"]["Labels"]
    probe = json.loads(tags[labels.PROBE]) if tags[labels.PROBE] else None
    return FoundServiceGroup(
        group=ServiceGroup(service["ID"], tuple(tags[labels.SERVICES].split())),
        attempt=attempt_of(tags),
        tenant=tags[labels.TENANT],
        user=tags.get(labels.USER, ""),
        node=tags[labels.NODE],
        hosts=tuple(tags[labels.HOSTS].split()),
        ports=json.loads(tags[labels.PORTS]),
        proxied=frozenset(tags[labels.PROXIED].split()),
        targets=tuple(tags[labels.TARGETS].split()),
        probe=Probe(ProbeKind(probe[0]), *probe[1:]) if probe else None,
        stop_grace_s=float(tags[labels.GRACE]),
        created_at_s=seconds(service["CreatedAt"]) or 0.0,
    )
