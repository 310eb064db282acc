"""What there is to tell of the store's bandwidth: capacity, what tenants are granted, get and miss."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from storage_bridge.base import StorageController
from storage_bridge.model import Achieved, Missed, StorageCapacity
from zoe_lib.domain.promises import Rates

_NOTHING = Rates()


@dataclass(frozen=True, slots=True)
class TenantBandwidth:
    """Bytes per second: granted to its executions in all, moved lately, and of what is granted missed at present."""

    granted: Rates = _NOTHING
    achieved: Rates = _NOTHING
    missed: Rates = _NOTHING


@dataclass(frozen=True, slots=True)
class StorageReport:
    """As of the last look. `capacity` and `promised` are of the whole store, whoever promised; `tenants` by name.

    `resting`: after several failures the controller is left alone for some seconds.
    """

    at_s: float = 0.0
    problem: str = ""
    resting: bool = False
    capacity: Rates = _NOTHING
    promised: Rates = _NOTHING
    tenants: Mapping[str, TenantBandwidth] = field(default_factory=dict)


def report(controller: StorageController, granted: Mapping[str, Rates], capacity: StorageCapacity) -> StorageReport:
    """Ask for what is achieved and missed. StorageUnavailableError."""
    achieved, missed = controller.achieved() or {}, controller.missed() or {}
    tenants = {
        tenant: TenantBandwidth(granted.get(tenant, _NOTHING), _rates(achieved.get(tenant)), _rates(missed.get(tenant)))
        for tenant in sorted({*granted, *achieved, *missed})
    }
    return StorageReport(
        at_s=time.time(),
        capacity=Rates(capacity.read_bytes_per_s, capacity.write_bytes_per_s),
        promised=Rates(capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s),
        tenants=tenants,
    )


def _rates(told: Achieved | Missed | None) -> Rates:
    return _NOTHING if told is None else Rates(int(told.read_bytes_per_s), int(told.write_bytes_per_s))
