"""Reports of managers on tasks and nodes, parsed into values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.engine.daemon.container_facts import NEVER, seconds

Json = Mapping[str, Any]
_NANO_PER_MILLI = 10**6


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One task as the managers report it."""

    task_id: str
    group_id: str
    slot: int
    state: str
    wanted: str
    at_s: float
    container_id: str
    exit_code: int | None
    message: str
    created_at_s: float = 0.0
    published: Mapping[int, int] = field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        """Return whether it has ended for good."""
        return self.state in ("complete", "failed", "rejected", "shutdown", "orphaned", "remove")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node as the managers report it."""

    node_id: str
    name: str
    address: str
    total: Resources
    labels: Mapping[str, str]
    down: bool
    available: bool
    message: str
    addresses: tuple[str, ...] = ()


def task_facts(task: Json) -> TaskFacts:
    """Return an entry of the managers' list of tasks."""
    status = task["Status"]
    container = status.get("ContainerStatus") or {}
    return TaskFacts(
        task_id=task["ID"],
        group_id=task["ServiceID"],
        slot=int(task.get("Slot", 1)),
        state=status["State"],
        wanted=task["DesiredState"],
        at_s=seconds(status["Timestamp"]) or 0.0,
        container_id=container.get("ContainerID", ""),
        exit_code=container.get("ExitCode"),
        message=status.get("Err") or "",
        created_at_s=seconds(task.get("CreatedAt") or NEVER) or 0.0,
        published={
            port["TargetPort"]: port["PublishedPort"] for port in (status.get("PortStatus") or {}).get("Ports") or ()
        },
    )


def node_facts(node: Json) -> NodeFacts:
    """Return an entry of the managers' list of nodes."""
    about, status = node["Description"], node["Status"]
    resources = about["Resources"]
    generic = (entry.get("DiscreteResourceSpec") for entry in resources.get("GenericResources") or [])
    devices = {entry["Kind"]: int(entry["Value"]) for entry in generic if entry is not None}
    state, availability = status["State"], node["Spec"]["Availability"]
    return NodeFacts(
        node_id=node["ID"],
        name=about["Hostname"],
        address=status.get("Addr", ""),
        total=Resources(resources["NanoCPUs"] // _NANO_PER_MILLI, resources["MemoryBytes"], devices),
        labels=node["Spec"].get("Labels") or {},
        down=state == "down",
        available=state == "ready" and availability == "active",
        message="" if state == "ready" and availability == "active" else f"Swarm reports: {state}, {availability}",
        addresses=tuple(dict.fromkeys(_addresses(node))),
    )


def _addresses(node: Json) -> Iterator[str]:
    """Return the addresses of a node for other nodes. A manager may report its own as 0.0.0.0, and another one to other
    nodes.
    """
    addresses = (node["Status"].get("Addr", ""), (node.get("ManagerStatus") or {}).get("Addr", "").rpartition(":")[0])
    for entry in addresses:
        with suppress(ValueError):
            address = ip_address(entry.strip("[]"))
            if not address.is_loopback and not address.is_unspecified:
                yield str(address)
