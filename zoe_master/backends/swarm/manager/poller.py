"""Poll the swarm: list services, tasks and nodes, and process changes that no event reported. Used by one thread
only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.errors import error_text
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.swarm.facts import NodeFacts, TaskFacts, node_facts, task_facts
from zoe_master.backends.swarm.manager.fencing import NodeFences
from zoe_master.backends.swarm.manager.gateways import Gateways
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.manager.reservations import foreign_reservations
from zoe_master.backends.swarm.services.task_driver import inspect_ended
from zoe_master.backends.swarm.services.task_records import ServiceGroup, TaskRecord, found_group
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.spec.overlays import addresses_in


class Reconciler:
    """Polls the whole swarm; `nodes` is the result of the last poll."""

    def __init__(
        self,
        managers: Managers,
        registry: TaskRegistry,
        watches: EngineWatches,
        gateways: Gateways,
        fences: NodeFences,
        settings: SwarmSettings,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._managers = managers
        self._registry = registry
        self._watches = watches
        self._gateways = gateways
        self._fences = fences
        self._settings = settings
        self._mine = {"label": f"{labels.INSTALLATION}={settings.installation}"}
        self.nodes: Mapping[str, NodeFacts] = {}
        self.returning: Collection[str] = ()
        """Nodes that were down and whose engine has not reported its containers since."""
        self.reserved_by_others: Mapping[str, Resources] = {}
        """By the node's id: reservations of foreign Swarm services."""
        self._others_due_s = 0.0
        self.network_addresses: int | None = None
        """Addresses of an execution's network: a setting of the swarm that never changes."""

    def look(self) -> None:
        """List everything and process changes; raises the client's exception if no manager answers."""
        nodes = by_name([node_facts(node) for node in self._managers.ask(lambda api: api.nodes())])
        services = self._managers.ask(lambda api: api.services(filters=self._mine))
        tasks = [task_facts(task) for task in self._managers.ask(lambda api: api.tasks(filters=self._mine))]
        self.nodes = nodes
        if self.network_addresses is None:
            swarm = self._managers.ask(lambda api: api.inspect_swarm())
            self.network_addresses = addresses_in(swarm.get("SubnetSize") or 0)
        self._poll_foreign_tasks()
        self._watches.follow({name: self._settings.url_of(name, node.address) for name, node in nodes.items()})
        self.returning = set(self._returning(nodes.values()))
        self._gateways.update_list(services, tasks)
        groups = self.groups()
        for service in sorted(services, key=lambda entry: str(entry["CreatedAt"])):
            if service["ID"] not in groups and labels.SERVICES in service["Spec"]["Labels"]:
                service_group = found_group(service)
                self._registry.adopt_group(service_group)
                groups[service_group.group.group_id] = service_group.group
        with_tasks = self._take_tasks(tasks, groups)
        listed = {str(service["ID"]) for service in services}
        for record in self._registry.records():
            if not record.final and record.group is not None:
                self._settle(record, record.group, listed, with_tasks)

    def groups(self) -> dict[str, ServiceGroup]:
        """Return all Swarm services of the known services."""
        return {record.group.group_id: record.group for record in self._registry.records() if record.group is not None}

    def _poll_foreign_tasks(self) -> None:
        """Only at rest: there may be many tasks, and their reservations change seldom."""
        if (now_s := self._clock.monotonic_s()) < self._others_due_s:
            return
        self._others_due_s = now_s + self._settings.look_interval_s
        tasks = self._managers.ask(lambda api: api.tasks(filters={"desired-state": "running"}))
        self.reserved_by_others = foreign_reservations(tasks, self._settings.installation)

    def _returning(self, nodes: Iterable[NodeFacts]) -> Iterator[str]:
        for node in nodes:
            if node.down:
                yield node.name
            else:
                self._fences.note_return(node.name)
                if node.name in self.returning and self._watches.engine(node.name) is None:
                    yield node.name

    def _take_tasks(self, tasks: Sequence[TaskFacts], groups: Mapping[str, ServiceGroup]) -> set[str]:
        """Give each service its task; return the groups with tasks."""
        for task in sorted(tasks, key=lambda task: task.at_s):
            group = groups.get(task.group_id)
            if group is not None and 0 < task.slot <= len(group.members):
                self._registry.task_seen(group.members[task.slot - 1], task)
        return {task.group_id for task in tasks}

    def _settle(self, record: TaskRecord, group: ServiceGroup, listed: set[str], with_tasks: set[str]) -> None:
        node = self.nodes.get(record.node)
        if node is None or node.down:
            if self._fences.is_fenced(record.node):
                self._registry.lose(record, f"node {record.node} is {'down' if node else 'gone'}")
        elif group.group_id not in listed and group.group_id not in with_tasks:
            self._end_removed(record)
        elif record.task is not None and record.task.has_ended:
            self._end_finished(record)
        elif record.task is not None and record.task.state == "pending" and record.task.message:
            self._pending(record, record.task, node)

    def _end_removed(self, record: TaskRecord) -> None:
        """End a service whose Swarm service and task were removed."""
        if record.running and self._watches.engine(record.node) is not None:
            return  # its engine knows more
        if record.mark.stop_cause is not None:
            self._registry.end_unstarted(record.service_id, record.mark.stop_cause)
        else:
            self._registry.end_unstarted(record.service_id, Cause.KILLED, "its Swarm service was removed from outside")

    def _end_finished(self, record: TaskRecord) -> None:
        engine = self._watches.engine(record.node)
        if engine is not None and record.task is not None and record.task.container_id:
            inspect_ended(engine, record, self._registry)
        else:
            self._registry.end_by_task(record)

    def _pending(self, record: TaskRecord, task: TaskFacts, node: NodeFacts) -> None:
        """Fail a task for which Swarm finds no room for long. If its node is away, wait: the node returns or is soon
        down.
        """
        since_s = max(record.created_at_s, task.created_at_s)
        if record.mark.stop_cause is not None or not node.available:
            return
        if self._clock.now_s() > since_s + self._settings.place_timeout_s:
            error = error_text(f"Swarm finds no room on {record.node}", task.message)
            self._registry.end_unstarted(record.service_id, Cause.ENGINE_FAULT, *error)


def by_name(
    nodes: Sequence[NodeFacts], better: Callable[[NodeFacts], bool] = lambda node: not node.down
) -> dict[str, NodeFacts]:
    """Return nodes by host name. A machine that joined again is listed twice: the present entry counts."""
    found: dict[str, NodeFacts] = {}
    for node in nodes:
        if node.name not in found or (better(node) and not better(found[node.name])):
            found[node.name] = node
    return dict(sorted(found.items()))
