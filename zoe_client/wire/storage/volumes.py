"""Volumes of blocks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from zoe_client.wire.base import Numbers, Wire
from zoe_client.words.names import VOLUME_NAME

VolumeName = Annotated[str, StringConstraints(pattern=VOLUME_NAME)]
VOLUME_BYTES_MIN, VOLUME_BYTES_MAX = 16 << 20, 1 << 46


class VolumeRequest(Numbers):
    """A new volume: its size in bytes, whole MiB from 16 MiB on, and the name of its policy."""

    name: VolumeName
    size_bytes: int = Field(ge=VOLUME_BYTES_MIN, le=VOLUME_BYTES_MAX, multiple_of=1 << 20)
    policy: str = Field(default="plain", max_length=64)


class VolumeView(Wire):
    """A volume. `state`: `ready`, or an interrupted step, which its removal ends: `making`, `removing`. `filters`: the
    first is the nearest to the service. `execution_id`: the unfinished execution that it is attached to.
    """

    name: str
    user: str
    size_bytes: int
    policy: str
    filters: list[str]
    state: str
    execution_id: str | None
    made_at_s: float


class VolumePolicyView(Wire):
    """A policy of volumes, with its filters."""

    name: str
    filters: list[str]


class VolumeList(Wire):
    """Your volumes in the tenant, the policies, and the bytes of all volumes of the tenant."""

    volumes: list[VolumeView]
    policies: list[VolumePolicyView]
    tenant_bytes: int
    tenant_bytes_max: int
