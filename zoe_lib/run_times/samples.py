"""Convert ended executions to samples of run times, and new ones to settings to estimate."""

from __future__ import annotations

from collections.abc import Iterable

from zoe_lib.domain.applications.application import Application, Component, with_counts
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark, Service
from zoe_lib.domain.executions.guaranteed import guaranteed_counts
from zoe_lib.domain.executions.promises import requested_rates
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.run_times.values import RunSample, RunSetting

_LEAST_CORES = 0.01
_LEAST_BUSY = 0.01
_WAITED_LEAST = 0.1
"""Minimum share of the time: a run that waits less for the store measures the burst of a proxy, not the rate of
delivery.
"""
Kind = tuple[str, str, str]
"""Tenant, user, and `Application.program`: runs of one kind predict each other."""

RunKey = tuple[str, str, str, int, int]
"""A kind, and cores and requested run time in half doublings: what a run time is expected by before the run."""


def kind_of(execution: Execution) -> Kind:
    """Return the kind of an execution."""
    return execution.tenant, execution.user, execution.application.program


def run_key(execution: Execution) -> RunKey:
    """Return the key by which the run time of an execution is expected, and by which it is learned."""
    return execution.tenant, execution.user, *execution.application.run_shape


def with_elastic(application: Application, elastic: int) -> Application:
    """Return an application with at most this many elastic services, in start-up order."""
    return with_counts(application, guaranteed_counts(application, elastic))


def setting_of(application: Application, elastic: int | None = None) -> RunSetting:
    """Return the setting of a run with this many elastic services, in start-up order; None: all."""
    sharing = _sharing(application)
    given = application if elastic is None else with_elastic(application, elastic)
    cores_milli = sum(
        component.reservation.cores_milli * component.total_count
        for component in given.components
        if component.name in sharing
    )
    return RunSetting(max(cores_milli / 1000, _LEAST_CORES), guaranteed=_rate(application))


def sample_of(execution: Execution) -> RunSample | None:
    """Return the sample of an execution that succeeded in its first attempt, without losses; None for others."""
    placed_s, ended_s = execution.marks.get(Mark.PLACED), execution.marks.get(Mark.ENDED)
    if execution.state is not ExecutionState.SUCCEEDED or execution.attempt > 1:
        return None
    if placed_s is None or ended_s is None or ended_s < placed_s:
        return None
    ended_s = max(min(ended_s, _programs_end_s(execution, ended_s)), placed_s)
    ready_s = min(max(execution.marks.get(Mark.READY, placed_s), placed_s), ended_s)
    cores = _average_cores(execution, ready_s, ended_s)
    guaranteed = _rate(execution.application) if Mark.STORAGE_GRANTED in execution.marks else None
    setting, work_s = RunSetting(cores, guaranteed=guaranteed, views=through_views(execution)), ended_s - ready_s
    moved = execution.transfers
    if moved is None or not moved.whole or Mark.TENANT_CREDENTIAL in execution.marks:
        return RunSample(setting, ready_s - placed_s, work_s)
    known = changed(setting, delivered_bytes=float(moved.read_bytes), rate=_delivered_rate(moved, work_s))
    busy = _busy(moved, _average_readers(execution, ready_s, ended_s), work_s)
    return RunSample(known, ready_s - placed_s, work_s, busy, _share(execution))


def through_views(execution: Execution) -> bool | None:
    """Return whether all inputs with a pushdown were read through views; None: some were, or there are none."""
    how = {bool(read.view) for read in execution.inputs}
    return how.pop() if len(how) == 1 else None


def _share(execution: Execution) -> float | None:
    """Return the share of the bytes that a view delivers, for an application with a single input."""
    storage = execution.application.storage
    alone = storage is not None and len(storage.inputs) == 1 and len(execution.inputs) == 1
    return execution.inputs[0].share if alone else None


def _delivered_rate(moved: StoreTransfers, work_s: float) -> float | None:
    """Return the bytes read for each second in which the run waited for the store; None if it hardly did."""
    if moved.transferring_s <= _WAITED_LEAST * work_s or not moved.read_bytes:
        return None
    return moved.read_bytes / moved.transferring_s


def _busy(moved: StoreTransfers, readers: float, work_s: float) -> float | None:
    """Return the share of its readers that did not wait for the store."""
    if work_s <= 0:
        return None
    return min(max(1.0 - moved.waiting_s / (readers * work_s), _LEAST_BUSY), 1.0)


def _programs_end_s(execution: Execution, otherwise_s: float) -> float:
    """Return the end of the program that ends the application, else of the last one: a master that was away records the
    end of the execution late.
    """
    ending = execution.application.ending_component
    ends = [
        service.ended_at_s
        for service in execution.services
        if service.ended_at_s is not None and (ending is None or service.component == ending.name)
    ]
    return max(ends, default=otherwise_s)


def _average_cores(execution: Execution, from_s: float, to_s: float) -> float:
    return _on_average(execution, from_s, to_s, least=0.0)


def _average_readers(execution: Execution, from_s: float, to_s: float) -> float:
    """Return how many read at the same time, if each core does: a service with a part of a core waits like a whole
    one.
    """
    return _on_average(execution, from_s, to_s, least=1.0)


def _on_average(execution: Execution, from_s: float, to_s: float, least: float) -> float:
    """Return the average cores of the services that shared the work, at least `least` for each."""
    sharing, held = _sharing(execution.application), 0.0
    for service in execution.services:
        if service.component in sharing:
            cores = max(execution.component_of(service).reservation.cores_milli / 1000, least)
            held += cores * _seconds(service, from_s, to_s)
    whole_s = to_s - from_s
    if whole_s <= 0 or held <= 0:
        return max(setting_of(execution.application, 0).cores, least)
    return max(held / whole_s, _LEAST_CORES)


def cores_now(execution: Execution) -> tuple[float, float]:
    """Return the cores of the ready services that share the work, and the time since when these are all."""
    sharing = _sharing(execution.application)
    known = [
        service for service in execution.services if service.component in sharing and service.ready_at_s is not None
    ]
    ready = [service for service in known if service.ended_at_s is None]
    milli = sum(execution.component_of(service).reservation.cores_milli for service in ready)
    changes = [service.ready_at_s or 0.0 for service in known] + [
        service.ended_at_s for service in known if service.ended_at_s is not None
    ]
    return max(milli / 1000, _LEAST_CORES), max(changes, default=0.0)


def _seconds(service: Service, from_s: float, to_s: float) -> float:
    """Return for how many seconds a service was ready between two times."""
    if service.ready_at_s is None:
        return 0.0
    until_s = service.ended_at_s if service.ended_at_s is not None else to_s
    return max(min(until_s, to_s) - max(service.ready_at_s, from_s), 0.0)


def _sharing(application: Application) -> frozenset[str]:
    """Return the components that share the work: those with several services, if one of these is essential, else
    all.
    """
    several = [component for component in application.components if component.total_count > 1]
    return _names(several if any(component.essential_count for component in several) else application.components)


def _names(components: Iterable[Component]) -> frozenset[str]:
    return frozenset(component.name for component in components)


def _rate(application: Application) -> float | None:
    """Return the read bandwidth that the application requests, in bytes per second."""
    rates = requested_rates(application)
    return float(rates.read) if rates is not None and rates.read else None
