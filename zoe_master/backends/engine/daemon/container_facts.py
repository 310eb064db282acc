"""Reports of engines on containers, parsed into values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.engine.spec.naming import labels

Json = Mapping[str, Any]
NEVER = "0001-"
_PROMISED_FACTOR = 128
_SHARES_MIN, _SHARES_MAX = 2, 262_144
SIGKILL = 9
KILLED = 137
"""128 + SIGKILL: sent by a user, or by the kernel for lack of memory."""


@dataclass(frozen=True, slots=True)
class ContainerFacts:
    """One container as its engine reports it. `started_at_s` None: it never ran. `exit_code` is set once it has
    ended. `disconnected`: it runs without any network.
    """

    container_id: str
    service_id: ServiceId
    task_id: str
    running: bool
    started_at_s: float | None
    finished_at_s: float | None = None
    exit_code: int | None = None
    out_of_memory: bool = False
    error: str = ""
    stop_signal: str = "SIGTERM"
    signals: frozenset[int] = frozenset()  # signals that a user sent through the engine, from its events
    published: Mapping[int, int] = field(default_factory=dict)
    address: str = ""  # inside its first network
    left_files: str = ""  # names and sizes of files in its scratch directory at its end
    paused: bool = False
    disconnected: bool = False
    mounts: tuple[str, ...] = ()  # their paths inside


def container_facts(inspected: Json) -> ContainerFacts | None:
    """Return a service's container; None if it is not Zoe's, or not a service's."""
    tags, state = inspected["Config"].get("Labels") or {}, inspected["State"]
    slot = _slot(tags)
    if slot is None or is_surplus(inspected):
        return None
    started_at_s, finished_at_s = seconds(state["StartedAt"]), seconds(state["FinishedAt"])
    unstartable = state["Status"] == "created" and bool(state["Error"])
    over = not state["Running"] and (state["Status"] in ("exited", "dead") or unstartable)
    return ContainerFacts(
        container_id=inspected["Id"],
        service_id=tags[labels.SERVICES].split()[slot - 1],
        task_id=tags.get(labels.TASK_ID, ""),
        running=bool(state["Running"]),
        started_at_s=started_at_s,
        # The engine records a start when it is notified of it, which may be after the end of a short life.
        finished_at_s=max(finished_at_s or 0.0, started_at_s or 0.0) if over else None,
        exit_code=int(state["ExitCode"]) if over else None,
        out_of_memory=bool(state["OOMKilled"]),
        error=state["Error"],
        stop_signal=inspected["Config"].get("StopSignal") or "SIGTERM",
        published=dict(_published_ports(inspected["NetworkSettings"].get("Ports") or {})),
        paused=bool(state.get("Paused")),
        disconnected=bool(state["Running"]) and not inspected["NetworkSettings"].get("Networks"),
        mounts=tuple(mount["Destination"] for mount in inspected.get("Mounts") or ()),
        address=next(_addresses(inspected["NetworkSettings"].get("Networks") or {}), ""),
    )


def is_surplus(inspected: Json) -> bool:
    """Return whether the task is not one of our services: Swarm runs more after an operator has scaled up a Swarm
    service.
    """
    tags = inspected["Config"].get("Labels") or {}
    slot = _slot(tags)
    return slot is not None and not 0 < slot <= len(tags[labels.SERVICES].split())


def _slot(tags: Json) -> int | None:
    """Return the container's task number in its Swarm service, from 1, or 1 without Swarm; None for containers of no
    service.
    """
    if labels.SERVICES not in tags:
        return None
    return int(tags[labels.TASK_NAME].split(".")[1]) if labels.TASK_NAME in tags else 1


def cpu_shares(cores_milli: int, promised: bool) -> int:
    """Return the CPU shares for reserved cores.

    A core is 1024 shares, as for a plain container, or 128 times that if it is promised, so that others take little of
    it; the kernel's limits are 2 and 262,144.
    """
    factor = _PROMISED_FACTOR if promised else 1
    return min(max(cores_milli * 1024 * factor // 1000, _SHARES_MIN), _SHARES_MAX)


def wrong_shares(inspected: Json) -> int | None:
    """Return the CPU shares for the container's reservation, if it has others; None if they are right.

    Swarm only counts reserved cores: without shares, competing containers get equal amounts.
    """
    tags = inspected["Config"].get("Labels") or {}
    reserved = tags.get(labels.CORES)
    if reserved is None or not inspected["State"]["Running"]:
        return None
    wanted = cpu_shares(int(reserved), labels.PROMISED in tags)
    return wanted if inspected["HostConfig"].get("CpuShares") != wanted else None


def end_container(running: ContainerFacts, exit_code: int, at_s: float) -> ContainerFacts | None:
    """Return the container after its end event; None if only an inspection shows why it ended."""
    if exit_code == KILLED and SIGKILL not in running.signals:
        return None
    return ended_by_event(running, exit_code, at_s)


def ended_by_event(running: ContainerFacts, exit_code: int, at_s: float) -> ContainerFacts:
    """Return the container after its end, as far as the event describes it."""
    finished_at_s = max(at_s, running.started_at_s or 0.0)
    return replace(running, running=False, finished_at_s=finished_at_s, exit_code=exit_code)


def _addresses(networks: Json) -> Iterator[str]:
    for network in networks.values():
        if network.get("IPAddress"):
            yield str(network["IPAddress"])


def _published_ports(ports: Json) -> Iterator[tuple[int, int]]:
    """Return the container port and the node port."""
    for inside, bindings in ports.items():
        for binding in bindings or ():
            yield int(inside.partition("/")[0]), int(binding["HostPort"])


def seconds(text: str) -> float | None:
    """Return an engine's time, with up to nine decimals, in seconds since the epoch; None for its zero time."""
    if text.startswith(NEVER):
        return None
    whole, _, rest = text.removesuffix("Z").partition(".")
    return datetime.fromisoformat(f"{whole}+00:00").timestamp() + float(f"0.{rest or 0}")
