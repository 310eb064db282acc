"""What the master's storage keeper tells Prometheus. Tenants are labels only while Zoe grants them bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from prometheus_client import Gauge

from zoe_lib.domain.promises import Rates
from zoe_master.storage_report import StorageReport

_DIRECTION, _TENANT = ["direction"], ["tenant", "direction"]

REACHABLE = Gauge("zoe_storage_controller_reachable", "1 while the storage controller answers.")
RESTING = Gauge("zoe_storage_controller_resting", "1 while it is left alone after failures (open circuit).")
CAPACITY = Gauge("zoe_storage_capacity_bytes_per_second", "What the store can promise in all.", _DIRECTION)
PROMISED = Gauge("zoe_storage_promised_bytes_per_second", "What the store has promised to all.", _DIRECTION)
GRANTED = Gauge("zoe_storage_granted_bytes_per_second", "What executions of a tenant are granted.", _TENANT)
ACHIEVED = Gauge("zoe_storage_achieved_bytes_per_second", "What a tenant moved lately.", _TENANT)
MISSED = Gauge("zoe_storage_missed_bytes_per_second", "What a tenant is granted and cannot get at present.", _TENANT)

_told: dict[Gauge, set[str]] = {gauge: set() for gauge in (GRANTED, ACHIEVED, MISSED)}


def observe_storage(report: StorageReport | None) -> None:
    """Tell of the last look; None: this master does not lead, or has no storage controller."""
    found = report or StorageReport()
    REACHABLE.set(report is not None and report.at_s > 0 and not report.problem)
    RESTING.set(found.resting)
    for gauge, rates in ((CAPACITY, found.capacity), (PROMISED, found.promised)):
        _set(gauge, (), rates)
    tenants = {name: one for name, one in found.tenants.items() if one.granted != Rates()}
    _tell(GRANTED, {name: one.granted for name, one in tenants.items()})
    _tell(ACHIEVED, {name: one.achieved for name, one in tenants.items()})
    _tell(MISSED, {name: one.missed for name, one in tenants.items()})


def _tell(gauge: Gauge, rates: Mapping[str, Rates | None]) -> None:
    """Series of those of whom something is known, and of nobody else."""
    known = {name: one for name, one in rates.items() if one is not None}
    for name, direction in product(_told[gauge] - known.keys(), ("read", "write")):
        gauge.remove(name, direction)
    for name, one in known.items():
        _set(gauge, (name,), one)
    _told[gauge] = set(known)


def _set(gauge: Gauge, labels: tuple[str, ...], rates: Rates) -> None:
    gauge.labels(*labels, "read").set(rates.read)
    gauge.labels(*labels, "write").set(rates.write)
