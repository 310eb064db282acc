"""Demands of an application on the object store, and answers of the storage controller."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from zoe_lib.domain.values.frozen import value


class Guarantee(StrEnum):
    """Effect of a bandwidth demand: `required` waits for it, `preferred` starts without it."""

    REQUIRED = "required"
    PREFERRED = "preferred"


@value(frozen=True, slots=True)
class Bandwidth:
    """Bytes per second that an application requests from the store; None: no demand."""

    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None
    guarantee: Guarantee = Guarantee.PREFERRED


@value(frozen=True, slots=True)
class Pushdown:
    """Projection and selection by the store: the columns, and the rows that match `where`."""

    columns: tuple[str, ...] = ()
    where: str | None = None
    types: tuple[tuple[str, str], ...] = ()
    """Types of columns, by the names of `column_types`; a column without a type is text."""


@value(frozen=True, slots=True)
class CsvInput:
    """CSV format of an input. names: all columns in order; if empty, those of the header."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = "\\"
    header: bool = True
    names: tuple[str, ...] = ()
    null_text: str = ""
    multi_line: bool = False


@value(frozen=True, slots=True)
class StorageObject:
    """A named input or output of an application: the URI of a prefix in the object store.

    csv None: the default format of CSV.
    """

    name: str
    uri: str
    pushdown: Pushdown | None = None
    csv: CsvInput | None = None


_SWIFT, S3 = "swift2d", "s3a"


def service_of(uri: str) -> str:
    """Return the name of the object-store service of a URI; empty for a plain file, which needs none."""
    scheme, _, rest = uri.partition("://")
    if scheme == S3:
        return S3
    return rest.partition("/")[0].partition(".")[2] if scheme == _SWIFT else ""


Located = str
"""A tenant's objects whose places are reported: each tenant has its own account with containers."""


def object_of(tenant: str, uri: str) -> Located:
    """Return a tenant's objects at a URI."""
    return f"{tenant} {uri}"


def tenant_and_uri(one: Located) -> tuple[str, str]:
    """Return the tenant, whose name contains no space, and the URI."""
    tenant, _, uri = one.partition(" ")
    return tenant, uri


@value(frozen=True, slots=True)
class InputRead:
    """The way in which one attempt reads an input, decided once before any of its services starts.
    uri: the URI that services read. view: the id of the view, empty for the plain objects; columns: the columns of the
    view, in order. why: a sentence for users. share: bytes that a view delivers for each byte of the plain objects, by
    a sample; None: unknown. unanswered: read plainly because the storage controller did not answer in time.
    """

    name: str
    uri: str
    view: str = ""
    columns: tuple[str, ...] = ()
    why: str = ""
    share: float | None = None
    unanswered: bool = False


@value(frozen=True, slots=True)
class Credential:
    """A tenant's login to a service of the object store; the key is never shown."""

    user: str
    key: str = field(repr=False)


@value(frozen=True, slots=True)
class StoreAccess:
    """Services of the object store on this installation, and those with a credential of the tenant. None: unknown."""

    services: frozenset[str] | None = None
    tenant: str = ""
    credentials: frozenset[str] | None = None


@value(frozen=True, slots=True)
class StorageDemand:
    """The storage section of an application."""

    inputs: tuple[StorageObject, ...] = ()
    outputs: tuple[StorageObject, ...] = ()
    bandwidth: Bandwidth | None = None
