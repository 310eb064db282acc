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
    """An uploaded filter: the newest module of that name, which rules that were added before may not run."""

    tenant: str | None = Field(description="Whose it is; null if all tenants share it.")
    name: str = Field(description="In small letters; rules may write it in any case.")
    sha256: str = Field(description="Of the module. Objects name it, and are read by this very version.")
    bytes: int
    runs: Literal["stored", "read"] = Field(
        description="`stored`: when an object is stored, and backward when it is read; `read`: when it is read only."
    )
    same_size: bool = Field(description="Whether one that runs at reading keeps sizes, so that ranges can be read.")
    author: str | None = None
    created_s: float
    rules: list[int] = Field(default=[], description="Numbers of the rules that run a version of it.")


class StorageFilterVersionView(Wire):
    """A version of an uploaded filter that is kept."""

    tenant: str | None
    name: str
    sha256: str
    author: str | None = None
    created_s: float
    newest: bool = Field(description="Whether rules that are added run it; false also if the filter was removed.")
    rules: list[int] = Field(description="Numbers of the rules that run it.")
    objects: bool = Field(description="Whether stored objects may need it.")


class StorageFilterList(Wire):
    """Uploaded filters by tenant and name, and all versions that are kept."""

    filters: list[StorageFilterView]
    versions: list[StorageFilterVersionView] = Field(default=[], description="The newest, and older ones in use.")


class StorageFilterRequest(Wire):
    """A filter to upload."""

    module: str = Field(max_length=_ENCODED_MAX, description="The WebAssembly module in base64, of at most 1 MiB.")
    tenant: str | None = Field(default=None, max_length=256, description="Whose; default: yours. Others need an admin.")
    shared: bool = Field(default=False, description="For all tenants; needs an admin.")


class StorageFilterFile(Wire):
    """The module of a filter, as the storage controller takes it."""

    data: str = Field(description="In base64.")
