"""Settings of the object store and its controller."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from zoe_lib.settings.file_settings import FileSettings


class StorageServiceSettings(BaseModel):
    """A service of the object store, under the name that descriptions use."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="Swift authentication URL (v1); for the service `s3a`, the S3 endpoint.")
    region: str = Field(default="", description="Swift region; Stocator needs it to find the endpoint.")
    swift_url: str = Field(
        default="",
        description="Where Zoe itself signs in with the credentials of the service, if not at `url`: a Swift's "
        "authentication URL (v1), or Keystone's, which ends in `/v3`, for application credentials. For a service `s3a` "
        "that is the `s3api` of a Swift: inputs at `s3a://` then get views.",
    )

    execution_credentials: bool = Field(
        default=False,
        description="Whether the service accepts credentials of executions (filter `zoe_executions`) that the storage "
        "controller gives. Services then get one of their execution instead of the tenant's.",
    )

    @field_validator("url", "swift_url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        if url and not re.fullmatch(r"https?://[^/\s]+(/\S*)?", url):
            raise ValueError(f"{url!r} is not an http:// or https:// address")
        return url


class StorageSettings(FileSettings):
    """The storage controller, and the services of the object store."""

    storage_url: str | None = Field(
        default=None,
        description="URL of the storage controller, Zoe's own or Crystal's; without one, no bandwidth is guaranteed. "
        "Several of Zoe's own with one database: their URLs, separated by commas.",
    )
    storage_token_file: Path | None = Field(
        default=None, description="Token sent to the storage controller as X-Auth-Token."
    )
    storage_owner: str = Field(
        default="zoe",
        pattern=r"^[\w.-]+$",
        description="Identifies this Zoe at the storage controller; each Zoe needs its own.",
    )
    storage_interval_s: float = Field(default=5.0, gt=0, description="Pause between polls of the storage controller.")
    storage_timeout_s: float = Field(default=2.0, gt=0, description="Time limit of one call to the storage controller.")
    storage_view_timeout_s: float = Field(
        default=15.0,
        gt=0,
        description="Time limit for making or measuring a view; after that, Zoe tries again.",
    )
    storage_lease_s: float = Field(
        default=120.0, gt=0, description="How long guarantees hold after the master is gone; Zoe's own controller only."
    )
    storage_read_bytes_per_s: int = Field(
        default=0,
        ge=0,
        description="Bandwidth that may be guaranteed for reading if the controller cannot report it (Crystal).",
    )
    storage_write_bytes_per_s: int = Field(
        default=0,
        ge=0,
        description="Bandwidth that may be guaranteed for writing if the controller cannot report it (Crystal).",
    )
    storage_services: dict[str, StorageServiceSettings] = Field(
        default={},
        description="Services by name, as in `swift2d://container.NAME/prefix`; `s3a` is the service of `s3a://` URIs.",
    )
    storage_jars: list[str] = Field(
        default=["/opt/stocator/*"],
        description="Jars that Spark needs for these services: paths on the nodes, or in images.",
    )
    storage_query_pushdown: bool = Field(
        default=True,
        description="Whether queries of Spark ask Swift for the columns and rows that they need of CSV objects; needs "
        "zoe-pushdown.jar among `storage_jars`.",
    )
