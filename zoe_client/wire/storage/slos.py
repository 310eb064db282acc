"""Bandwidth of the object store that tenants are guaranteed."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Numbers, Wire

SLO_MIN, _RATE_MAX = 100_000, 2**53
"""Bodies move in pieces of 64 KiB: at this rate one every 0.7 s, at much less so rarely that it seems to hang."""


class StorageSloRequest(Numbers):
    """The bandwidth to guarantee, in bytes per second; null: none this way. What is not named stays as it is."""

    read_bytes_per_s: int | None = Field(default=None, ge=SLO_MIN, le=_RATE_MAX)
    write_bytes_per_s: int | None = Field(default=None, ge=SLO_MIN, le=_RATE_MAX)


class StorageSloView(Wire):
    """An SLO of a tenant. Of several, the greatest holds each way."""

    tenant: str
    standing: bool = Field(description="Set for good by an admin; others follow executions, rules and other clients.")
    set_by: str = Field(description="What set it: `standing`, the master's name at the controller, or another policy.")
    read_bytes_per_s: int | None
    write_bytes_per_s: int | None
    notes: list[str] = Field(default=[], description="What may not be kept of it; told when it is set.")


class StorageSloList(Wire):
    """All SLOs, by tenant."""

    slos: list[StorageSloView]
