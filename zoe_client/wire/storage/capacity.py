"""Bandwidth of the object store: capacity, grants, achieved bandwidth, and waiting executions."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Wire


class BandwidthView(Wire):
    """Bytes per second, in each direction."""

    read_bytes_per_s: int
    write_bytes_per_s: int


class TenantBandwidthView(Wire):
    """Total grants of a tenant's executions, its recent traffic, and the part of the grants that it misses now."""

    tenant: str
    granted: BandwidthView
    achieved: BandwidthView | None = Field(description="Null if the storage controller does not report it.")
    missed: BandwidthView | None = Field(description="Null if the storage controller does not report it.")


class BandwidthPointView(TenantBandwidthView):
    """Average bandwidth of a tenant in the interval that begins at `at_s`."""

    at_s: float


class BandwidthOverTimeView(Wire):
    """Bandwidth by time and tenant, in intervals of `stretch_s`; intervals without data are missing.

    The first interval may begin before `from_s` and the last may end after `to_s`; the averages count only the
    requested period.
    """

    from_s: float
    to_s: float
    stretch_s: float
    points: list[BandwidthPointView]


class StorageWaitView(Wire):
    """An execution that waits for bandwidth."""

    execution_id: str
    tenant: str
    user: str
    sentence: str


class StorageCaveatView(Wire):
    """A tenant's grants that the proxies of the object store cannot always deliver."""

    tenant: str
    sentence: str


class ExecutionBandwidthView(Wire):
    """Grants of an execution with its own credential, and its recent traffic."""

    execution_id: str
    tenant: str
    user: str
    granted: BandwidthView
    achieved: BandwidthView


class StorageView(Wire):
    """Bandwidth as of the master's last poll of the storage controller."""

    configured: bool = Field(description="Whether a storage controller is configured.")
    problem: str = Field(
        default="", description="Why the values are unknown; empty while the storage controller answers."
    )
    resting: bool = Field(
        default=False, description="True while the master pauses its polls for some seconds after failures."
    )
    at_s: float | None = Field(default=None, description="Time of the last poll.")
    capacity: BandwidthView | None = Field(
        default=None, description="Bandwidth that the controller can guarantee in total."
    )
    promised: BandwidthView | None = Field(
        default=None, description="Bandwidth that the controller has guaranteed, to this Zoe and to others."
    )
    tenants: list[TenantBandwidthView] = Field(default=[], description="Your tenant, or all tenants for operators.")
    executions: list[ExecutionBandwidthView] = Field(
        default=[], description="Visible executions with their own credentials."
    )
    warnings: list[str] = Field(
        default=[], description="Why guarantees are not kept at present; empty while the controller keeps them."
    )
    caveats: list[StorageCaveatView] = Field(default=[], description="Of your tenant, or of all tenants for operators.")
    waiting: list[StorageWaitView] = Field(default=[], description="Of your tenant, or of all tenants for operators.")
