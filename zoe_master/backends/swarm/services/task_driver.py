"""Decide the next action for a task: beside those for its container, the removal of its Swarm service."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.engine.daemon.container_facts import container_facts
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.errors import UNREACHABLE, status_of
from zoe_master.backends.engine.services.service_driver import ServiceDriver
from zoe_master.backends.swarm.services.task_records import ServiceGroup, TaskRecord
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.backends.swarm.settings import SwarmSettings

_MANAGERS_HEAR_S = 3.0


class TaskDriver(ServiceDriver):
    """Also examines Swarm services."""

    def __init__(
        self,
        registry: TaskRegistry,
        watches: EngineWatches,
        pool: ThreadPoolExecutor,
        settings: SwarmSettings,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        super().__init__(registry, watches, pool, settings, clock)
        self._tasks = registry

    def removable(self, group: ServiceGroup) -> bool:
        """Return whether the Swarm service can go: all reports and output are kept, or only its removal can end its
        tasks.
        """
        if group.removed:
            return False
        members = [record for service in group.members if (record := self._tasks.get(service)) is not None]
        if all(record.mark.forgotten and record.collected for record in members):
            return all(_known_to_managers(member, self._clock.now_s()) for member in members)
        return all(record.final or self._out_of_reach(record) for record in members) and not all(
            record.final for record in members
        )

    def _out_of_reach(self, record: TaskRecord) -> bool:
        """Return whether it must end, but its container does not exist yet, does not run, or cannot be reached."""
        unreachable = self._watches.engine(record.node) is None
        return record.mark.stop_cause is not None and (not record.running or unreachable)


def inspect_ended(engine: Engine, record: TaskRecord, registry: TaskRegistry) -> None:
    """Read an end that no event reported; if the container is gone, the managers' report counts."""
    assert record.task is not None
    try:
        facts = container_facts(engine.api.inspect_container(record.task.container_id))
    except UNREACHABLE as error:
        if status_of(error) == 404:
            registry.end_by_task(record, "its container no longer exists")
        return
    if facts is not None and not facts.running and facts.finished_at_s is None:
        registry.end_unbegun(record)  # created and never started, for example because the engine hung just then
    elif facts is not None:
        registry.container_seen(facts, after_gap=False)


def _known_to_managers(record: TaskRecord, now_s: float) -> bool:
    """Return whether the managers know that its task has ended, or have had time to learn it.

    An engine that removes a task counted as running waits two seconds for its network.
    """
    end = record.mark.end
    return record.task is None or record.task.has_ended or end is None or now_s > end.at_s + _MANAGERS_HEAR_S
