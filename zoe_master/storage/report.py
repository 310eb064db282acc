"""Report of the store's bandwidth: capacity, and grants, rates and deficits of tenants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import AchievedBandwidth, BandwidthSlo, ExecutionBandwidth, MissedBandwidth, StorageCapacity
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.promises import Rates, StoreCapacity, TenantBandwidth, not_always_kept_together
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.errors import Unstorable

if TYPE_CHECKING:  # simulations need no database driver
    from zoe_lib.store.postgres.store import PostgresStore

log = structlog.get_logger(__name__)
_NOTHING = Rates()


@dataclass(frozen=True, slots=True)
class BandwidthReport:
    """The result of the last poll. `capacity` and `promised` are those of the whole store; `tenants` by name.

    `resting`: requests are paused for some seconds after several failures. `measured`: whether the controller reports
    traffic of tenants; if not, `achieved` and `missed` are None. `moved`: bytes per second to and from each address.
    `caveats`: by tenant, guarantees that the proxies cannot always deliver. `executions`: guarantees and traffic of
    executions with credentials, by id. `unkept`: why the controller keeps no promise at present.
    """

    at_s: float = 0.0
    problem: str = ""
    resting: bool = False
    measured: bool = True
    capacity: Rates = _NOTHING
    promised: Rates = _NOTHING
    tenants: Mapping[str, TenantBandwidth] = field(default_factory=dict)
    moved: Mapping[str, float] | None = None
    caveats: Mapping[str, str] = field(default_factory=dict)
    executions: Mapping[str, ExecutionBandwidth] = field(default_factory=dict)
    unkept: tuple[str, ...] = ()


def report(
    controller: StorageController, granted: Mapping[str, Rates], capacity: StorageCapacity, clock: Clock = SYSTEM_CLOCK
) -> BandwidthReport:
    """Return the controller's report on other promises, rates and deficits of tenants: `granted` is what this Zoe has
    put in force. StorageUnavailableError.
    """
    granted = _with_other_promises(granted, controller.guarantees())
    achieved, missed = controller.achieved_bandwidth(), controller.missed_bandwidth()
    if achieved is None or missed is None:
        measured = False
        tenants = {tenant: TenantBandwidth(rates, None, None) for tenant, rates in sorted(granted.items())}
    else:
        measured = True
        tenants = {
            name: TenantBandwidth(granted.get(name, _NOTHING), _rates(achieved.get(name)), _rates(missed.get(name)))
            for name in sorted({*granted, *achieved, *missed})
        }
    clients, proxies = controller.clients(), store_capacity(capacity)
    return BandwidthReport(
        moved=None
        if clients is None
        else {host: sum(_read_and_write(bandwidth)) for host, bandwidth in clients.items()},
        at_s=clock.now_s(),
        measured=measured,
        unkept=capacity.unkept,
        capacity=available_rates(capacity),
        promised=Rates(capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s),
        tenants=tenants,
        caveats={
            tenant: caveat
            for tenant, rates in sorted(granted.items())
            if (caveat := not_always_kept_together(tenant, rates, proxies))
        },
    )


def _with_other_promises(granted: Mapping[str, Rates], promised: Mapping[str, BandwidthSlo]) -> Mapping[str, Rates]:
    """Return the guarantees of each tenant: other promises, such as standing SLOs and rules, apply beside this Zoe's,
    and the highest counts.
    """
    found = dict(granted)
    for tenant, slo in promised.items():
        mine = granted.get(tenant, _NOTHING)
        found[tenant] = Rates(max(mine.read, slo.read_bytes_per_s or 0), max(mine.write, slo.write_bytes_per_s or 0))
    return {tenant: rates for tenant, rates in found.items() if rates != _NOTHING}


def available_rates(capacity: StorageCapacity) -> Rates:
    """Return what can be guaranteed now, which is less than the capacity while servers of the store are away."""
    now = capacity.available
    if now is None:
        return Rates(capacity.read_bytes_per_s, capacity.write_bytes_per_s)
    return Rates(now.read_bytes_per_s or 0, now.write_bytes_per_s or 0)


def store_capacity(capacity: StorageCapacity) -> StoreCapacity:
    """Return the capacity of the whole store in the form that guarantees use."""
    return StoreCapacity(
        capacity.read_bytes_per_s,
        capacity.write_bytes_per_s,
        capacity.one_proxy_bytes_per_s,
        capacity.proxies_bytes_per_s,
    )


def store_report(report: BandwidthReport, store: PostgresStore) -> None:
    """Store a report for charts, and the transfers of executions so far, unless it failed; leave out tenants that do
    not use the store.
    """
    if report.problem:
        return
    nothing = {None, _NOTHING}
    users = {
        name: bandwidth
        for name, bandwidth in report.tenants.items()
        if {bandwidth.granted, bandwidth.achieved, bandwidth.missed} - nothing
    }
    moved = {
        text: StoreTransfers(
            told.generation, total.read_bytes, total.written_bytes, total.transferring_s, total.waiting_s
        )
        for text, told in report.executions.items()
        if (total := told.totals) is not None
    }
    try:
        store.add_bandwidth(report.at_s, users, report.measured)
        store.keep_transfers(report.at_s, moved)
    except Unstorable as error:
        log.warning("cannot store the storage controller's report", why=str(error))


def _read_and_write(one: AchievedBandwidth) -> tuple[float, float]:
    return one.read_bytes_per_s, one.write_bytes_per_s


def _rates(bandwidth: AchievedBandwidth | MissedBandwidth | None) -> Rates:
    return _NOTHING if bandwidth is None else Rates(int(bandwidth.read_bytes_per_s), int(bandwidth.write_bytes_per_s))
