"""Requests served by the proxies of the object store."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Wire


class StorageTrafficRow(Wire):
    """Rates of one tenant, key, container, method, proxy or node, by the requested dimensions; the others are null."""

    tenant: str | None = None
    key: str | None = Field(
        default=None, description="Signer: a user of the store, or `executions`; empty for unsigned requests."
    )
    container: str | None = Field(
        default=None, description="Empty for requests to the account itself; `*` for too long names."
    )
    method: str | None = None
    proxy: str | None = None
    node: str | None = Field(default=None, description="An object server, which counts each copy that it stores.")
    requests_per_s: float
    refused_per_s: float = Field(description="Answered with 4xx.")
    failed_per_s: float = Field(description="Answered with 5xx, or ended early.")
    read_bytes_per_s: float
    write_bytes_per_s: float
    cpu_s_per_s: float = Field(default=0.0, description="CPU seconds per second (cores) of filters and views.")
    cpu_wait_s_per_s: float = Field(
        default=0.0, description="Seconds per second that requests waited because of their tenant's CPU limit."
    )
    mean_latency_s: float | None = Field(description="Time to the head of the answer; null without requests.")


class StorageTrafficView(Wire):
    """Rates over the last `seconds`, most bytes first; 1,000 rows at most."""

    seconds: float
    rows: list[StorageTrafficRow]
    left_out: int = Field(description="Number of omitted rows.")
