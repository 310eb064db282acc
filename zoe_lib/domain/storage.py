"""What an application asks of the object store, and what the storage controller answers."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from zoe_lib.domain.values import value


class Guarantee(StrEnum):
    """How an application stands to its bandwidth: `required` waits for it, `preferred` starts without."""

    REQUIRED = "required"
    PREFERRED = "preferred"


@value(frozen=True, slots=True)
class Bandwidth:
    """Bytes per second that an application wants from the store; None is no wish."""

    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None
    guarantee: Guarantee = Guarantee.PREFERRED


@value(frozen=True, slots=True)
class Pushdown:
    """Projection and selection to be done by the store: the columns wanted and the rows that match `where`."""

    columns: tuple[str, ...] = ()
    where: str | None = None
    types: tuple[tuple[str, str], ...] = ()
    """Types of columns, by the names of `column_types`; one without a type is read as a text."""


@value(frozen=True, slots=True)
class CsvInput:
    """How an input's CSV is written. names: all columns in order; empty: those of the header."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = "\\"
    header: bool = True
    names: tuple[str, ...] = ()
    null_text: str = ""
    multi_line: bool = False


@value(frozen=True, slots=True)
class StorageObject:
    """A named input or output of an application: a URI of an object-store prefix. csv None: as it mostly is."""

    name: str
    uri: str
    pushdown: Pushdown | None = None
    csv: CsvInput | None = None


_SWIFT, S3 = "swift2d", "s3a"


def service_of(uri: str) -> str:
    """The name of the object-store service that a URI leads to; empty for a plain file, which needs none."""
    scheme, _, rest = uri.partition("://")
    if scheme == S3:
        return S3
    return rest.partition("/")[0].partition(".")[2] if scheme == _SWIFT else ""


Located = str
"""A tenant's object whose places are told: each tenant has an account with containers of its own."""


def located(tenant: str, uri: str) -> Located:
    """The object that a tenant means by a URI."""
    return f"{tenant} {uri}"


def whose(one: Located) -> tuple[str, str]:
    """The tenant, in whose name there is no space, and the URI."""
    tenant, _, uri = one.partition(" ")
    return tenant, uri


@value(frozen=True, slots=True)
class InputRead:
    """How an input is read in one try, decided once before anything of it starts.

    uri: what services read. view: the id of the view that it is, empty for the plain objects; columns: those that the
    view has, in order. why: a sentence for users.
    """

    name: str
    uri: str
    view: str = ""
    columns: tuple[str, ...] = ()
    why: str = ""


@value(frozen=True, slots=True)
class Credential:
    """How a tenant logs in to a service of the object store; the key is never shown."""

    user: str
    key: str = field(repr=False)


@value(frozen=True, slots=True)
class StoreAccess:
    """The services of the object store that this installation has, and those that a tenant has a credential for.

    None: not known.
    """

    services: frozenset[str] | None = None
    tenant: str = ""
    credentials: frozenset[str] | None = None


@value(frozen=True, slots=True)
class StorageDemand:
    """The storage section of an application."""

    inputs: tuple[StorageObject, ...] = ()
    outputs: tuple[StorageObject, ...] = ()
    bandwidth: Bandwidth | None = None
