"""Guaranteed services: the elastic services of a promise, which the scheduler treats as essential."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import Cause, Execution, Service, ServiceState
from zoe_lib.domain.values.finish_times import PromiseOffers
from zoe_lib.domain.values.frozen import changed

_PLACED = ("starting", "running")


def awaits_promise(execution: Execution) -> bool:
    """Return whether it waits for the promise that it requests, and so stays out of the queue."""
    wished = execution.application.promise is not None and execution.deadline_s is not None
    return wished and execution.promise is None


def standing_offers(execution: Execution) -> PromiseOffers | None:
    """Return the offers that it has or had; None after it was cancelled, which withdraws them."""
    return None if execution.cause is Cause.CANCELLED else execution.offers


def guaranteed_counts(application: Application, elastic: int) -> Mapping[str, int]:
    """Return how many services of each component are essential or guaranteed, if `elastic` elastic services are
    guaranteed, in start-up order.
    """
    left, counts = elastic, {}
    for component in sorted(application.components, key=lambda component: component.startup_order):
        more = min(component.elastic_count, left)
        left -= more
        counts[component.name] = component.essential_count + more
    return counts


def as_guaranteed(execution: Execution) -> Execution:
    """Return the execution as the scheduler sees it under its promise.

    Guaranteed services are essential: they are placed at the start, all or none, and never taken back. Without a
    promise it is the same execution.
    """
    if execution.promise is None:
        return execution
    terms = execution.promise.terms
    counts = guaranteed_counts(execution.application, execution.promise.elastic_guarantee(execution.attempt))
    components = tuple(
        changed(component, essential_count=counts[component.name]) for component in execution.application.components
    )
    application = changed(execution.application, components=components, expected_run_s=terms.run_s)
    services = tuple(_as_core(service, counts[service.component]) for service in execution.services)
    return changed(execution, application=application, services=services)


def missing(guaranteed: Execution) -> Mapping[str, list[Service]]:
    """Return the guaranteed services of a started execution without a node, by component: successors of failed ones.
    They get nodes before they may start again, or others would take the room.
    """
    found: dict[str, list[Service]] = {}
    if guaranteed.state.value not in _PLACED:
        return found
    for service in guaranteed.core_services():
        if service.state is ServiceState.CREATED and service.node is None:
            found.setdefault(service.component, []).append(service)
    return found


def _as_core(service: Service, essential: int) -> Service:
    return service if service.core or service.index >= essential else changed(service, core=True)
