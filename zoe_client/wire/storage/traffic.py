"""Requests that the proxies of the object store serve."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Wire


class StorageTrafficRow(Wire):
    """Rates of one tenant, key, container, method, proxy or node, whichever were asked for; the others are null."""

    tenant: str | None = None
    key: str | None = Field(
        default=None, description="Who signs them: a user of the store, or `executions`; empty for nobody."
    )
    container: str | None = Field(
        default=None, description="Empty for requests of the account itself; `*` for names that are too long."
    )
    method: str | None = None
    proxy: str | None = None
    node: str | None = Field(default=None, description="An object server, which counts each copy that it stores.")
    requests_per_s: float
    refused_per_s: float = Field(description="Answered with 4xx.")
    failed_per_s: float = Field(description="Answered with 5xx, or ended early.")
    read_bytes_per_s: float
    write_bytes_per_s: float
    cpu_s_per_s: float = Field(default=0.0, description="CPU seconds per second, cores, of filters and views.")
    cpu_wait_s_per_s: float = Field(
        default=0.0, description="Seconds per second that requests waited for the bound of their tenant's CPU time."
    )
    mean_latency_s: float | None = Field(description="Time to the head of the answer; null without requests.")


class StorageTrafficView(Wire):
    """Rates over so many of the last seconds, those that move most bytes first; 1,000 rows at most."""

    seconds: float
    rows: list[StorageTrafficRow]
    left_out: int = Field(description="Rows beyond those.")
