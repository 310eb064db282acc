"""Filters of objects that users upload: WebAssembly modules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from zoe_client.wire.base import Wire
from zoe_client.words.names import FILTER_NAME

MODULE_BYTES_MAX = 2**20
_ENCODED_MAX = (MODULE_BYTES_MAX + 3) * 4 // 3
FilterName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=FILTER_NAME)]


class StorageFilterView(Wire):
    """An uploaded filter: the newest module of that name; rules added earlier may run older ones."""

    tenant: str | None = Field(description="Owner; null if all tenants share it.")
    name: str = Field(description="Name in lower case; rules may write it in any case.")
    sha256: str = Field(
        description="Digest of the module. Stored objects record it, and are read with exactly this version."
    )
    bytes: int
    runs: Literal["stored", "read"] = Field(
        description="`stored`: at writing, and reversed at reading; `read`: at reading only."
    )
    same_size: bool = Field(description="Whether a filter for reading keeps sizes, so that ranges can be read.")
    author: str | None = None
    created_s: float
    rules: list[int] = Field(default=[], description="Numbers of the rules that run a version of it.")


class StorageFilterVersionView(Wire):
    """A stored version of an uploaded filter."""

    tenant: str | None
    name: str
    sha256: str
    author: str | None = None
    created_s: float
    newest: bool = Field(description="Whether new rules run it; false also if the filter was removed.")
    rules: list[int] = Field(description="Numbers of the rules that run it.")
    objects: bool = Field(description="Whether stored objects may need it.")


class StorageFilterList(Wire):
    """Uploaded filters by tenant and name, and all stored versions."""

    filters: list[StorageFilterView]
    versions: list[StorageFilterVersionView] = Field(
        default=[], description="The newest version, and older ones in use."
    )


class StorageFilterRequest(Wire):
    """A filter to upload."""

    module: str = Field(max_length=_ENCODED_MAX, description="The WebAssembly module in base64, of at most 1 MiB.")
    tenant: str | None = Field(
        default=None, max_length=256, description="Owner (default: your tenant). Other tenants need an admin."
    )
    shared: bool = Field(default=False, description="Share it with all tenants; needs an admin.")


class StorageFilterFile(Wire):
    """The module of a filter, in the form of the storage controller."""

    data: str = Field(description="In base64.")
