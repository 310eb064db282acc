"""Metering: resources that executions held, times their duration, and bytes moved, in whole units so that sums are
exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.promises import requested_rates
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources

HOUR_US = 3_600_000_000


class Meter(StrEnum):
    """Metered quantities, in the units of rates."""

    CORE_HOURS = "core_hours"
    MEMORY_GIB_HOURS = "memory_gib_hours"
    DEVICE_HOURS = "device_hours"
    BANDWIDTH_MB_S_HOURS = "bandwidth_mb_s_hours"
    VIEW_HOURS = "view_hours"
    READ_GB = "read_gb"
    WRITTEN_GB = "written_gb"


ONE: Mapping[Meter, int] = MappingProxyType(
    {
        Meter.CORE_HOURS: 1000 * HOUR_US,
        Meter.MEMORY_GIB_HOURS: 2**30 * HOUR_US,
        Meter.DEVICE_HOURS: HOUR_US,
        Meter.BANDWIDTH_MB_S_HOURS: 10**6 * HOUR_US,
        Meter.VIEW_HOURS: HOUR_US,
        Meter.READ_GB: 10**9,
        Meter.WRITTEN_GB: 10**9,
    }
)
"""The smallest units in one unit of each meter: thousandths of a core, bytes, devices, bytes per second or views, times
microseconds; bytes for moved data.
"""


@value(frozen=True, slots=True)
class MeteredUse:
    """Use of one meter; `units` are its smallest (see `ONE`).

    `device`: the kind, for device hours. `execution_id`: empty for sums over executions. `unused`: the unused share,
    from 0 to 1, as far as there are samples.
    """

    tenant: str
    user: str
    application: str
    meter: Meter
    units: int
    device: str = ""
    execution_id: str = ""
    unused: float | None = None


def microseconds(at_s: float) -> int:
    """Return a time since the epoch in whole microseconds, rounded like PostgreSQL's `round`."""
    return round(at_s * 1_000_000)


def expected_use(application: Application, tenant: str, user: str, run_s: float) -> tuple[MeteredUse, ...]:
    """Return the use of an application if all its services run for that time, with its preferred bandwidth granted.

    The bytes that it will move are unknown.
    """
    us = microseconds(run_s)
    reserved: Resources = application.total_resources()
    rates = requested_rates(application)
    views = sum(input_.pushdown is not None for input_ in application.storage.inputs) if application.storage else 0
    amounts = [
        (Meter.CORE_HOURS, "", reserved.cores_milli),
        (Meter.MEMORY_GIB_HOURS, "", reserved.memory_bytes),
        *((Meter.DEVICE_HOURS, kind, number) for kind, number in sorted(reserved.devices.items())),
        (Meter.BANDWIDTH_MB_S_HOURS, "", rates.read + rates.write if rates is not None else 0),
        (Meter.VIEW_HOURS, "", views),
    ]
    return tuple(
        MeteredUse(tenant, user, application.name, meter, amount * us, device)
        for meter, device, amount in amounts
        if amount
    )
