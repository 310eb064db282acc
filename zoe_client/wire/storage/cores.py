"""Cores that filters and views of tenants may take at each proxy of the object store."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Numbers, Wire

_LEAST, _MOST = 0.01, 1024.0


class StorageCoresRequest(Numbers):
    """What a tenant may take: CPU seconds per second, over all of its requests at a proxy; 1024: no bound."""

    cores: float = Field(ge=_LEAST, le=_MOST, allow_inf_nan=False)


class StorageCoresView(Wire):
    """A bound that holds. What an admin set holds instead of a setting."""

    tenant: str = Field(description="`*`: all that are not named.")
    cores: float
    standing: bool = Field(description="Set by an admin; others are settings of the storage controller.")
    author: str | None = Field(description="Who set it.")
    at_s: float | None = Field(description="When it was set.")
    notes: list[str] = Field(default=[], description="What to know of it; told when it is set.")


class StorageCoresList(Wire):
    """All bounds, by tenant. Tenants that none concerns take as much as there is."""

    cores: list[StorageCoresView]
