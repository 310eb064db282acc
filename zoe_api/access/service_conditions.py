"""What the services of a placed execution wait for: one sentence each, from the journal, the nodes and the back-end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from zoe_client.wire import ServiceConditionView
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Service, ServiceState

Told = Mapping[str, Mapping[str, str]]
"""The back-end's sentences on services, by id: `message`, and `detail` for operators."""
_ORDINARY_ENDS = frozenset(
    {Cause.STOPPED, Cause.CANCELLED, Cause.SCALED_DOWN, Cause.PREEMPTED, Cause.REQUEUED, Cause.CORE_ENDED}
)
_DEFAULTS = {ServiceState.STARTING: "it is being started", ServiceState.STOPPING: "it is being stopped"}
_PLACED = frozenset({ExecutionState.STARTING, ExecutionState.RUNNING, ExecutionState.STOPPING})


def service_conditions(
    execution: Execution, told: Told, nodes: Sequence[Node], operates: bool
) -> list[ServiceConditionView]:
    """Return the services that do not run as they should: those that start, stop, or have trouble, and those that
    failed and whose next attempt is not ready yet.
    """
    if execution.state not in _PLACED:
        return []
    away = {node.name: node for node in nodes if not node.ready}
    found = []
    for earlier, service in _newest(execution):
        if earlier is not None and service.state is not ServiceState.READY:
            found.append(_view(earlier, _end_words(earlier), ""))
        parts = list(_parts(service, told, away, operates))
        if parts:
            detail = told.get(service.id, {}).get("detail", "") if operates else ""
            found.append(_view(service, "; ".join(parts), detail))
    return found


def _newest(execution: Execution) -> Iterator[tuple[Service | None, Service]]:
    """Yield the newest attempt of each service, after the one before if that failed."""
    attempts: dict[tuple[str, int], list[Service]] = {}
    for service in execution.services:
        attempts.setdefault((service.component, service.index), []).append(service)
    for services in attempts.values():
        *_, newest = sorted(services, key=lambda service: service.attempt)
        before = max((s for s in services if s is not newest), key=lambda service: service.attempt, default=None)
        yield before if before is not None and _failed(before) else None, newest


def _parts(service: Service, told: Told, away: Mapping[str, Node], operates: bool) -> Iterator[str]:
    if not service.alive:
        if _failed(service):
            yield _end_words(service)
        return
    node = away.get(service.node or "")
    message = told.get(service.id, {}).get("message", "")
    if message:
        yield message
    if node is not None:
        yield f"node {node.name} is not ready{f': {node.message}' if operates and node.message else ''}"
    if not message and node is None and service.state in _DEFAULTS:
        yield _DEFAULTS[service.state]


def _failed(service: Service) -> bool:
    return not service.alive and not service.has_succeeded and service.cause not in _ORDINARY_ENDS


def _end_words(service: Service) -> str:
    lost = service.state is ServiceState.LOST
    how = f"it was lost with node {service.node}" if lost else f"it ended: {service.cause}"
    code = f" (exit code {service.exit_code})" if service.exit_code is not None else ""
    return f"{how}{code}{f': {service.message}' if service.message else ''}"


def _view(service: Service, sentence: str, detail: str) -> ServiceConditionView:
    return ServiceConditionView(
        service_id=service.id,
        name=service.name if service.attempt == 1 else f"{service.name} (attempt {service.attempt})",
        node=service.node,
        state=service.state,
        sentence=sentence,
        detail=detail,
    )
