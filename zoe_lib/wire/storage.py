"""Bandwidth of the object store: what there is, what is granted, what tenants get, who waits."""

from __future__ import annotations

from pydantic import Field

from zoe_lib.domain.promises import Rates
from zoe_lib.wire.base import Wire


class BandwidthView(Wire):
    """Bytes per second, each way."""

    read_bytes_per_s: int
    write_bytes_per_s: int

    @classmethod
    def of(cls, rates: Rates) -> BandwidthView:
        """The wire form of rates."""
        return cls(read_bytes_per_s=rates.read, write_bytes_per_s=rates.write)

    @classmethod
    def of_known(cls, rates: Rates | None) -> BandwidthView | None:
        """The same; None of what is not known."""
        return None if rates is None else cls.of(rates)


class TenantBandwidthView(Wire):
    """What a tenant's executions are granted in all, what it moved lately, and what of the grant it misses now."""

    tenant: str
    granted: BandwidthView
    achieved: BandwidthView | None = Field(description="None: the storage controller does not tell.")
    missed: BandwidthView | None = Field(description="None: the storage controller does not tell.")


class BandwidthPointView(TenantBandwidthView):
    """The same on average in a stretch of time that begins at `at_s`."""

    at_s: float


class BandwidthOverTimeView(Wire):
    """Bandwidth by time and tenant; each stretch is `stretch_s` long, one of which nothing is known is missing.

    The first stretch may begin before `from_s` and the last end after `to_s`: what is outside has no part in the means.
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
    """What of a tenant's grants the proxies of the object store do not always move."""

    tenant: str
    sentence: str


class StorageView(Wire):
    """As of the master's last look at the storage controller."""

    configured: bool = Field(description="Whether there is a storage controller at all.")
    problem: str = Field(default="", description="Why nothing is known of it; empty while it answers.")
    resting: bool = Field(default=False, description="After failures it is left alone for some seconds.")
    at_s: float | None = Field(default=None, description="When it was last looked at.")
    capacity: BandwidthView | None = Field(default=None, description="What it can promise in all.")
    promised: BandwidthView | None = Field(default=None, description="What it has promised to all, us and others.")
    tenants: list[TenantBandwidthView] = Field(default=[], description="The own one, or all for operators.")
    caveats: list[StorageCaveatView] = Field(default=[], description="Of the own tenant, or all for operators.")
    waiting: list[StorageWaitView] = Field(default=[], description="Of the own tenant, or all for operators.")
