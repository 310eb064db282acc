"""The back-end's records in memory of each service."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from zoe_lib.domain.applications.application import Probe, ProbeKind
from zoe_lib.domain.executions.execution import ExecutionId, ServiceId
from zoe_master.backends.base import Observation
from zoe_master.backends.engine.daemon.container_facts import ContainerFacts
from zoe_master.backends.engine.errors import NOTHING, ErrorText
from zoe_master.backends.engine.services.service_files import Mark
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt, attempt_of


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
    container: ContainerFacts | None = None
    obstacle: ErrorText = NOTHING  # why it is not handed to an engine yet
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
        """Return the id from its engine; empty while there is none."""
        return self.container.container_id if self.container is not None else ""

    @property
    def not_started(self) -> ErrorText:
        """Return why it has no container that runs yet, if that is known."""
        return self.obstacle

    @property
    def removed_by(self) -> str:
        """Return who ordered the end of its container, as a sentence; empty if only Zoe may have."""
        return ""

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


@dataclass(frozen=True, slots=True)
class FoundServices:
    """Services of one component that an earlier back-end has begun, as described by labels."""

    services: tuple[ServiceId, ...]
    hosts: tuple[str, ...]
    attempt: Attempt
    tenant: str
    user: str
    node: str
    ports: Mapping[str, int]
    probe: Probe | None
    stop_grace_s: float
    created_at_s: float


def found_services(tags: Mapping[str, str], created_at_s: float) -> FoundServices:
    """Return the services of an object with all our labels (`service_labels`)."""
    probe = json.loads(tags[labels.PROBE]) if tags[labels.PROBE] else None
    return FoundServices(
        services=tuple(tags[labels.SERVICES].split()),
        hosts=tuple(tags[labels.HOSTS].split()),
        attempt=attempt_of(tags),
        tenant=tags[labels.TENANT],
        user=tags.get(labels.USER, ""),
        node=tags[labels.NODE],
        ports=json.loads(tags[labels.PORTS]),
        probe=Probe(ProbeKind(probe[0]), *probe[1:]) if probe else None,
        stop_grace_s=float(tags[labels.GRACE]),
        created_at_s=created_at_s,
    )
