"""Why a service does not run as it should, although it has not ended: one sentence from all reports on it."""

from __future__ import annotations

from zoe_master.backends.engine.daemon.container_facts import ContainerFacts
from zoe_master.backends.engine.errors import ErrorText
from zoe_master.backends.engine.services.records import Record


def condition_of(record: Record) -> ErrorText:
    """Return what keeps a service from running or from being ready; empty if nothing does."""
    container = record.container
    if container is None or container.started_at_s is None:
        return record.not_started
    return ErrorText("; ".join([*_troubles(container), *_readiness(record)]))


def _troubles(container: ContainerFacts) -> list[str]:
    """Return what an admin or the kernel did to a running container."""
    found = []
    if container.paused:
        found.append("its container is paused, from outside of Zoe; `docker unpause` continues it")
    if container.disconnected:
        found.append("its container has no network: it was disconnected from outside of Zoe")
    if container.out_of_memory:
        found.append("the kernel ended one of its processes, since it used more memory than its limit")
    return found


def _readiness(record: Record) -> list[str]:
    if record.probe is None or record.mark.ready_at_s is not None:
        return []
    return [f"port {record.probe.port} does not answer yet; it has {record.probe.timeout_s:g} s from its start"]
