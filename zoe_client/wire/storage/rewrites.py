"""Jobs that store objects again by the present rules, or in their original form."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from zoe_client.wire.base import Numbers, Wire
from zoe_client.words.names import TENANT_AT_THE_STORE

RewriteState = Literal["running", "done", "cancelled", "gave_up"]
RATE_MIN, _RATE_MAX = 100_000, 10**11


class StorageRewriteRequest(Numbers):
    """The objects to store again, the way, and the speed."""

    tenant: Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=TENANT_AT_THE_STORE)]
    container: Annotated[str, StringConstraints(max_length=256, pattern=r"^[^\x00/]*$")] = Field(
        default="", description="Container; empty: all of the tenant's."
    )
    plain: bool = Field(
        default=False, description="Store them in their original form, without filters, regardless of the rules."
    )
    dry_run: bool = Field(default=False, description="Count the objects that would change, and change none.")
    bytes_per_s: int | None = Field(
        default=None,
        ge=RATE_MIN,
        le=_RATE_MAX,
        description="Speed, in original bytes; examining an object counts as 64 KiB (default: setting).",
    )


class StorageRewriteView(Wire):
    """A job that stores objects again, and its progress. Sizes are those of the original objects."""

    id: int
    state: RewriteState = Field(description="`gave_up`: the store was away for too long; the job can be resumed.")
    tenant: str
    container: str = Field(description="Container; empty: all of the tenant's.")
    plain: bool
    dry_run: bool
    bytes_per_s: int
    author: str | None
    created_s: float
    ended_s: float | None
    waits: str = Field(description="Why it waits, or waited when it gave up; empty while it makes progress.")
    sentence: str = Field(description="Last object that could not be stored again, and why.")
    at_container: str = Field(description="All objects up to this one have been examined.")
    at_object: str
    expected: int = Field(description="Number of objects at its start.")
    looked: int = Field(description="Number of examined objects.")
    changed: int = Field(description="Examined objects that were stored again, or with `dry_run` would be.")
    kept: int = Field(
        description="Examined objects that are up to date, have no bytes of their own, or no longer exist."
    )
    failed: int = Field(description="Examined objects that could not be stored again, and stay unchanged.")
    bytes: int
    changed_bytes: int


class StorageRewriteList(Wire):
    """Jobs, the newest first, 50 at most."""

    rewrites: list[StorageRewriteView]
