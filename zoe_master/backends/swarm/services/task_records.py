"""The records of services that are tasks, and of their Swarm services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.engine.daemon.container_facts import seconds
from zoe_master.backends.engine.errors import ErrorText, error_text
from zoe_master.backends.engine.services.records import FoundServices, Record, found_services
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.swarm.facts import TaskFacts

_ENDED_BY_ITSELF = ("complete", "failed")
_STEPS = {
    "assigned": "its engine has not begun with it yet",
    "accepted": "its engine has not begun with it yet",
    "preparing": "its engine prepares its image, network and files",
    "ready": "its container is being started",
    "starting": "its container is being started",
}
"""What a task in each of these states waits for."""


@dataclass(slots=True)
class ServiceGroup:
    """A Swarm service. `members` are its tasks' services by slot, from 1."""

    group_id: str
    members: tuple[ServiceId, ...]
    removed: bool = False


@dataclass(slots=True)
class TaskRecord(Record):
    """One service that is a task.

    targets: of the gateway that the service bears; empty if it bears none.
    """

    proxied: frozenset[str] = frozenset()
    targets: tuple[str, ...] = ()
    group: ServiceGroup | None = None
    task: TaskFacts | None = None

    @property
    def container_id(self) -> str:
        """Return the id from its engine, or from the managers if its engine has not reported it; empty while there is
        none.
        """
        if self.container is not None:
            return self.container.container_id
        return self.task.container_id if self.task is not None else ""

    @property
    def not_started(self) -> ErrorText:
        """Return why the managers do not take it, or what its task waits for, with their message."""
        if self.task is None or self.obstacle.message:
            return self.obstacle
        return error_text(_STEPS.get(self.task.state, "Swarm has not started it yet"), self.task.message)

    @property
    def removed_by(self) -> str:
        """Return that the managers ordered the end.

        They also want `shutdown` of a task that ended by itself, but only after its node reported it as complete or
        failed.
        """
        task = self.task
        removed = task is not None and task.wanted != "running" and task.state not in _ENDED_BY_ITSELF
        return "Swarm removed it from its node" if removed else ""

    @property
    def wants_gateway(self) -> bool:
        """Return whether the service needs a gateway beside it."""
        return bool(self.targets) and not self.leaving


@dataclass(frozen=True, slots=True)
class FoundServiceGroup:
    """A Swarm service of ours, as described by its labels."""

    group: ServiceGroup
    found: FoundServices
    proxied: frozenset[str]
    targets: tuple[str, ...]


def found_group(service: Mapping[str, Any]) -> FoundServiceGroup:
    """Return the service for an entry of the managers' list that carries our labels."""
    tags = service["Spec"]["Labels"]
    found = found_services(tags, seconds(service["CreatedAt"]) or 0.0)
    return FoundServiceGroup(
        group=ServiceGroup(service["ID"], found.services),
        found=found,
        proxied=frozenset(tags[labels.PROXIED].split()),
        targets=tuple(tags[labels.TARGETS].split()),
    )
