"""Cores that filters and views of tenants may take at each proxy of the object store."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Numbers, Wire

_LEAST, _MOST = 0.01, 1024.0


class StorageCoresRequest(Numbers):
    """A tenant's limit: CPU seconds per second, over all of its requests at a proxy; 1024: no limit."""

    cores: float = Field(ge=_LEAST, le=_MOST, allow_inf_nan=False)


class StorageCoresView(Wire):
    """A limit in force. An admin's limit replaces a setting."""

    tenant: str = Field(description="Tenant; `*`: all other tenants.")
    cores: float
    standing: bool = Field(description="Whether an admin set it; others are settings of the storage controller.")
    author: str | None = Field(description="User who set it.")
    at_s: float | None = Field(description="Time at which it was set.")
    notes: list[str] = Field(default=[], description="Notes; returned when it is set.")


class StorageCoresList(Wire):
    """All limits, by tenant. Tenants without one are unlimited."""

    cores: list[StorageCoresView]
