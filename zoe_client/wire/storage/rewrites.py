"""Objects that are stored again by today's rules, or as they were put."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from zoe_client.wire.base import Numbers, Wire
from zoe_client.words.names import TENANT_AT_THE_STORE

RewriteState = Literal["running", "done", "cancelled", "gave_up"]
RATE_MIN, _RATE_MAX = 100_000, 10**11


class StorageRewriteRequest(Numbers):
    """Which objects are to be stored again, how, and how fast."""

    tenant: Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=TENANT_AT_THE_STORE)]
    container: Annotated[str, StringConstraints(max_length=256, pattern=r"^[^\x00/]*$")] = Field(
        default="", description="Empty: all of the tenant's."
    )
    plain: bool = Field(default=False, description="As they were put, without filters, whatever the rules say.")
    dry_run: bool = Field(default=False, description="Count what would change, and change nothing.")
    bytes_per_s: int | None = Field(
        default=None,
        ge=RATE_MIN,
        le=_RATE_MAX,
        description="Of what was put; a look at an object counts as 64 KiB. Default: the controller's setting.",
    )


class StorageRewriteView(Wire):
    """A job that stores objects again, and how far it is. Sizes are those of what was put."""

    id: int
    state: RewriteState = Field(description="`gave_up`: the store was away for too long; the job can be resumed.")
    tenant: str
    container: str = Field(description="Empty: all of the tenant's.")
    plain: bool
    dry_run: bool
    bytes_per_s: int
    author: str | None
    created_s: float
    ended_s: float | None
    waits: str = Field(description="What it waits for, or waited for when it gave up; empty while it goes on.")
    sentence: str = Field(description="The last object that could not be stored again, and why.")
    at_container: str = Field(description="All objects up to this one have been looked at.")
    at_object: str
    expected: int = Field(description="Objects that were there when it began.")
    looked: int = Field(description="Objects that have been looked at.")
    changed: int = Field(description="Of these: stored again, or with `dry_run` to be stored again.")
    kept: int = Field(description="Stored as they should be, without bytes of their own, or gone.")
    failed: int = Field(description="Could not be stored again, so that they stay as they are.")
    bytes: int
    changed_bytes: int


class StorageRewriteList(Wire):
    """Jobs, the newest first, 50 at most."""

    rewrites: list[StorageRewriteView]
