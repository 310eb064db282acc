"""Bandwidth guarantees of tenants in the object store."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Numbers, Wire

SLO_MIN, _RATE_MAX = 100_000, 2**53
"""Bodies move in pieces of 64 KiB: at this rate one every 0.7 s; at a much lower rate, transfers seem to hang."""


class StorageSloRequest(Numbers):
    """The bandwidth to guarantee, in bytes per second; null: none in this direction. A missing field keeps its
    value.
    """

    read_bytes_per_s: int | None = Field(default=None, ge=SLO_MIN, le=_RATE_MAX)
    write_bytes_per_s: int | None = Field(default=None, ge=SLO_MIN, le=_RATE_MAX)


class StorageSloView(Wire):
    """An SLO of a tenant. If there are several, the greatest applies in each direction."""

    tenant: str
    standing: bool = Field(
        description="Whether an admin set it permanently; others follow executions, rules and other clients."
    )
    set_by: str = Field(description="Source: `standing`, the master's name at the controller, or another policy.")
    read_bytes_per_s: int | None
    write_bytes_per_s: int | None
    notes: list[str] = Field(default=[], description="Parts that may not be kept; returned when it is set.")


class StorageSloList(Wire):
    """All SLOs, by tenant."""

    slos: list[StorageSloView]
