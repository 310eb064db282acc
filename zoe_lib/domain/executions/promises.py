"""Bandwidth of the object store: the demands of executions, and the possible guarantees."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark, Service, ServiceState
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.storage import S3, Guarantee, StorageObject, service_of

_MB = 10**6
_SWIFT = "swift2d"
OF_THE_STORE = (ReasonCode.STORAGE_BANDWIDTH, ReasonCode.STORAGE_REFUSED)
"""Reasons of executions that wait for the object store."""


@value(frozen=True, slots=True)
class Rates:
    """Bytes per second, to read and to write."""

    read: int = 0
    write: int = 0

    def __add__(self, other: Rates) -> Rates:
        """Add both."""
        return Rates(self.read + other.read, self.write + other.write)

    def __sub__(self, other: Rates) -> Rates:
        """Subtract; negative if more is used than exists."""
        return Rates(self.read - other.read, self.write - other.write)

    def at_most(self, other: Rates) -> Rates:
        """Return the lesser of both in each direction."""
        return Rates(min(self.read, other.read), min(self.write, other.write))

    def fits_in(self, room: Rates) -> bool:
        """Return whether there is room in both directions; a direction without a demand does not count."""
        return (not self.read or self.read <= room.read) and (not self.write or self.write <= room.write)


@value(frozen=True, slots=True)
class StoreCapacity:
    """Bytes per second that the object store can guarantee in total, to all clients together.
    one_proxy: throughput of its largest proxy, both directions together; proxies: throughput of all proxies. None:
    unknown.
    """

    read: int = 0
    write: int = 0
    one_proxy: int | None = None
    proxies: int | None = None

    @property
    def rates(self) -> Rates:
        """Return the possible guarantees in each direction."""
        return Rates(self.read, self.write)


@value(frozen=True, slots=True)
class BandwidthSupply:
    """Bandwidth that can be guaranteed to executions in total; `problem` says why it is unknown. others: guarantees of
    standing SLOs, rules and other clients of the store. away: why the store moves less than usual, if it does.
    """

    rates: Rates = Rates()
    problem: str = ""
    others: Rates = Rates()
    away: str = ""


@value(frozen=True, slots=True)
class BandwidthGuarantee:
    """Bandwidth to guarantee to an execution as a part of its tenant's SLO."""

    execution_id: ExecutionId
    tenant: str
    rates: Rates
    required: bool


@value(frozen=True, slots=True)
class TenantBandwidth:
    """Bytes per second of a tenant: granted to its executions in total, moved recently, and granted but missed at
    present.

    None: the storage controller does not report it.
    """

    granted: Rates = Rates()
    achieved: Rates | None = Rates()
    missed: Rates | None = Rates()


def required_rates(application: Application) -> Rates | None:
    """Return the bandwidth without which it must not start; None if there is none."""
    return _wish(application, Guarantee.REQUIRED)


def preferred_rates(application: Application) -> Rates | None:
    """Return the preferred bandwidth; None if it requests none, or requires it."""
    return _wish(application, Guarantee.PREFERRED)


def requested_rates(application: Application) -> Rates | None:
    """Return the required or preferred bandwidth; None if it requests none."""
    return required_rates(application) or preferred_rates(application)


def never_promised(application: Application, capacity: Rates) -> Reason | None:
    """Return why the required bandwidth can never be guaranteed, with the largest possible one; None if it can.
    capacity: total guarantees of the object store, to all clients together.
    """
    wanted = required_rates(application)
    if wanted is None or wanted.fits_in(capacity):
        return None
    return Reason(
        ReasonCode.NEVER_FITS,
        f"It requires {excess_text(wanted, capacity)}.",
        hint=f"ask for {_largest(wanted, capacity)}, or use guarantee: preferred to run without it",
    )


def never_granted(application: Application, capacity: Rates) -> str:
    """Return a sentence if the preferred bandwidth can never be guaranteed; empty if it can."""
    wanted = preferred_rates(application)
    if wanted is None or wanted.fits_in(capacity):
        return ""
    return (
        f"it prefers {excess_text(wanted, capacity)}: it runs without a guarantee; ask for {_largest(wanted, capacity)}"
    )


def not_always_kept(application: Application, capacity: StoreCapacity) -> str:
    """Return a sentence if the bandwidth can be guaranteed, but proxies cannot always deliver it; else empty."""
    wanted = requested_rates(application) or Rates()
    verb = "prefers" if required_rates(application) is None else "requires"
    bound = _bound_of_proxies(wanted, capacity)
    return f"it {verb} {_each_way(wanted, capacity)}, but {bound}" if bound else ""


def not_always_kept_together(tenant: str, granted: Rates, capacity: StoreCapacity) -> str:
    """Return a sentence if proxies cannot always deliver all grants of a tenant; else empty."""
    bound = _bound_of_proxies(granted, capacity)
    return f"{tenant} is granted {_each_way(granted, capacity)}, but {bound}" if bound else ""


def _each_way(rates: Rates, capacity: StoreCapacity) -> str:
    return " and ".join(f"{_exactly(rate)} to {what}" for what, rate, _ in _ways(rates, capacity.rates))


def _bound_of_proxies(wanted: Rates, capacity: StoreCapacity) -> str:
    both, one, all_of_them = wanted.read + wanted.write, capacity.one_proxy, capacity.proxies
    if all_of_them is not None and both > all_of_them:
        moved = f"all proxies of the object store together move {_exactly(all_of_them)}, reads and writes added up"
        return f"{moved}: it cannot always have both at the same time"
    if one is not None and both > one:
        moved = f"one proxy of the object store moves {_exactly(one)}, reads and writes added up"
        return f"{moved}: only services that use several proxies get more"
    return ""


def excess_text(wanted: Rates, capacity: Rates) -> str:
    """Return which demand exceeds the object store's total guarantees, and that total."""
    short = [f"{_exactly(rate)} to {what}" for what, rate, most in _ways(wanted, capacity) if rate > most]
    there = [f"{_exactly(most)} to {what}" for what, rate, most in _ways(wanted, capacity) if rate > most]
    return f"{' and '.join(short)}, but the object store can guarantee only {' and '.join(there)} in total"


def _largest(wanted: Rates, capacity: Rates) -> str:
    named = ((what, min(rate, most)) for what, rate, most in _ways(wanted, capacity))
    return " and ".join(f"at most {_exactly(most)} to {what}" if most else f"nothing to {what}" for what, most in named)


def _ways(wanted: Rates, capacity: Rates) -> list[tuple[str, int, int]]:
    """Return each direction with a demand: its name, the demand, and the capacity."""
    both = (("read", wanted.read, capacity.read), ("write", wanted.write, capacity.write))
    return [(what, rate, max(most, 0)) for what, rate, most in both if rate]


def _exactly(rate: int) -> str:
    """Return a rate in the form of descriptions, not rounded, so that the largest rate in a message is accepted."""
    return f"{(Decimal(rate) / _MB).normalize():f}MB/s"


def promises(active: Iterable[Execution], supply: Rates | None) -> tuple[BandwidthGuarantee, ...]:
    """Return the guarantees for executions that start, run or stop, in the order of requests.

    They include all required bandwidth, since only executions with room for it were admitted; then each preference that
    still fits in the supply. In both groups, present grants come first, then executions by time of placement. supply:
    in total; None while it is unknown: then granted preferences are kept, and no others are added.
    """
    placed = sorted(active, key=lambda e: (Mark.STORAGE_GRANTED not in e.marks, e.marks[Mark.PLACED], e.id))
    result = [
        BandwidthGuarantee(e.id, e.tenant, wish, True)
        for e in placed
        if (wish := required_rates(e.application)) is not None
    ]
    remaining = supply - sum((promise.rates for promise in result), Rates()) if supply is not None else None
    for execution in placed:
        wish = preferred_rates(execution.application)
        if wish is None:
            continue
        if remaining is None:
            granted = Mark.STORAGE_GRANTED in execution.marks
        elif granted := wish.fits_in(remaining):
            remaining -= wish
        if granted:
            result.append(BandwidthGuarantee(execution.id, execution.tenant, wish, False))
    return tuple(result)


def awaits_grant(execution: Execution) -> bool:
    """Return whether it must wait until the controller has put its required guarantee in force.

    An execution with a started service had its guarantee then; it continues when that is withdrawn.
    """
    if Mark.STORAGE_GRANTED in execution.marks or required_rates(execution.application) is None:
        return False
    return Mark.STORAGE_WITHDRAWN not in execution.marks or not any(map(_has_started, execution.current()))


def refusal_reason(execution: Execution) -> Reason | None:
    """Return the reason of an execution that waits because its required bandwidth was refused, in this or the last
    attempt; else None.
    """
    waits = execution.state in (ExecutionState.QUEUED, ExecutionState.STARTING)
    if not waits or not execution.storage_problem or not awaits_grant(execution):
        return None
    return Reason(
        ReasonCode.STORAGE_REFUSED,
        f"The storage controller refuses the required bandwidth: {execution.storage_problem}",
        hint="the master asks again; the operator of the object store can say more",
    )


def waits_for_store(execution: Execution) -> Reason | None:
    """Return the reason of an execution that waits for the object store; else None."""
    reason = execution.reason or refusal_reason(execution)
    return reason if reason is not None and reason.code in OF_THE_STORE else None


def pushed_down(application: Application) -> tuple[StorageObject, ...]:
    """Return the inputs with a pushdown."""
    storage = application.storage
    return tuple(input_ for input_ in storage.inputs if input_.pushdown is not None) if storage is not None else ()


def without_views(application: Application) -> Application:
    """Return the application with all its inputs read plainly."""
    if not pushed_down(application) or application.storage is None:
        return application
    plain = tuple(changed(input_, pushdown=None) for input_ in application.storage.inputs)
    return changed(application, storage=changed(application.storage, inputs=plain))


def view_schemes(s3_is_swift: bool) -> tuple[str, ...]:
    """Return the schemes of URIs that can be read through views. s3_is_swift: the S3 service is a Swift with views."""
    return (_SWIFT, S3) if s3_is_swift else (_SWIFT,)


def no_service(one: StorageObject, services: Collection[str] | None) -> str:
    """Return that its service does not exist, as a part of a sentence; empty if it does, or if that is unknown."""
    service = service_of(one.uri)
    if not service or services is None or service in services:
        return ""
    return f"this installation has no object-store service {service}"


def why_no_view(one: StorageObject, schemes: Collection[str], services: Collection[str] | None = None) -> str:
    """Return why the store has no views of it, as a part of a sentence; empty if it may have one."""
    if why := no_service(one, services):
        return why
    if one.uri.partition("://")[0] not in schemes:
        return f"only {' and '.join(f'{scheme}://' for scheme in schemes)} inputs can be read through views"
    if one.csv and one.csv.multi_line:
        return (
            "with records of several lines (multi_line), a view cannot find where a record begins in "
            "the middle of an object"
        )
    return ""


def awaits_inputs(execution: Execution) -> bool:
    """Return whether it must wait for the decision on how its inputs are read."""
    return not execution.inputs and bool(pushed_down(execution.application))


def by_tenant(promised: Iterable[BandwidthGuarantee]) -> dict[str, Rates]:
    """Return the SLO of each tenant: the sum of the guarantees of its executions."""
    result: dict[str, Rates] = {}
    for promise in promised:
        result[promise.tenant] = result.get(promise.tenant, Rates()) + promise.rates
    return result


def _has_started(service: Service) -> bool:
    return service.started_at_s is not None or service.state not in (ServiceState.CREATED, ServiceState.ENDED)


def _wish(application: Application, guarantee: Guarantee) -> Rates | None:
    storage = application.storage
    if storage is None or storage.bandwidth is None or storage.bandwidth.guarantee is not guarantee:
        return None
    return Rates(storage.bandwidth.read_bytes_per_s or 0, storage.bandwidth.write_bytes_per_s or 0)


def is_promised(execution: Execution) -> bool:
    """Return whether the cores of an execution are promised, since it has a promise to end by a time."""
    return execution.promise is not None
