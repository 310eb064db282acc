"""Bandwidth of the object store: capacity, what is granted, what tenants get, and who waits."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Wire


class BandwidthView(Wire):
    """Bytes per second, each way."""

    read_bytes_per_s: int
    write_bytes_per_s: int


class TenantBandwidthView(Wire):
    """What the executions of a tenant are granted in total, what it moved lately, and how much of the grant it misses
    now.
    """

    tenant: str
    granted: BandwidthView
    achieved: BandwidthView | None = Field(description="Null if the storage controller does not report it.")
    missed: BandwidthView | None = Field(description="Null if the storage controller does not report it.")


class BandwidthPointView(TenantBandwidthView):
    """Average bandwidth of a tenant over a stretch of time that begins at `at_s`."""

    at_s: float


class BandwidthOverTimeView(Wire):
    """Bandwidth by time and tenant in stretches of `stretch_s`; a stretch without data is missing.

    The first stretch may begin before `from_s` and the last may end after `to_s`; the averages count only what is
    within.
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
    """Which of a tenant's grants the proxies of the object store cannot always move."""

    tenant: str
    sentence: str


class ExecutionBandwidthView(Wire):
    """What an execution with a credential of its own is granted, and what it moved lately."""

    execution_id: str
    tenant: str
    user: str
    granted: BandwidthView
    achieved: BandwidthView


class StorageView(Wire):
    """Bandwidth as of the master's last poll of the storage controller."""

    configured: bool = Field(description="Whether a storage controller is configured.")
    problem: str = Field(default="", description="Why nothing is known; empty while the storage controller answers.")
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
        default=[], description="Those that you see of the executions with credentials of their own."
    )
    warnings: list[str] = Field(
        default=[], description="Why no guarantee is kept at present; empty while the controller keeps them."
    )
    caveats: list[StorageCaveatView] = Field(default=[], description="Of your tenant, or of all tenants for operators.")
    waiting: list[StorageWaitView] = Field(default=[], description="Of your tenant, or of all tenants for operators.")
