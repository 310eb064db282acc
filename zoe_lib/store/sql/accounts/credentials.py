"""Sealed logins of tenants for services of the object store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.documents.text import storable
from zoe_lib.store.errors import NotFound, Unstorable
from zoe_lib.store.people import SealedCredential
from zoe_lib.store.tables.accounts import storage_credentials, tenants

_KEY = (storage_credentials.c.tenant, storage_credentials.c.service)


def put(connection: Connection, credential: SealedCredential) -> None:
    """Store a login, replacing an earlier one for the same service; NotFound for an unknown tenant."""
    if not storable(credential.tenant, credential.service, credential.login):
        raise Unstorable("the credential contains characters that cannot be stored")
    if connection.execute(select(tenants.c.name).where(tenants.c.name == credential.tenant)).first() is None:
        raise NotFound(f"tenant {credential.tenant} does not exist")
    values = asdict(credential)
    upsert = insert(storage_credentials).values(values)
    connection.execute(upsert.on_conflict_do_update(index_elements=list(_KEY), set_=values))


def read(connection: Connection, tenant: str) -> Sequence[SealedCredential]:
    """Return the logins of a tenant, by service."""
    if not storable(tenant):
        return ()
    wanted = select(storage_credentials).where(storage_credentials.c.tenant == tenant).order_by(*_KEY)
    return [from_row(SealedCredential, row) for row in connection.execute(wanted)]


def reseal(connection: Connection, was: SealedCredential, sealed: bytes) -> bool:
    """Store the same login sealed with another key; False, without a change, if it was set or removed in between."""
    table = storage_credentials.c
    same = (table.tenant == was.tenant, table.service == was.service, table.sealed == was.sealed)
    return connection.execute(update(storage_credentials).where(*same).values(sealed=sealed)).rowcount == 1


def remove(connection: Connection, tenant: str, service: str) -> None:
    """Remove a login; NotFound."""
    if not storable(tenant, service):
        raise NotFound(f"tenant {tenant!r} has no credentials for the object store {service!r}")
    is_row = (storage_credentials.c.tenant == tenant, storage_credentials.c.service == service)
    if connection.execute(delete(storage_credentials).where(*is_row)).rowcount != 1:
        raise NotFound(f"tenant {tenant} has no credentials for the object store {service}")
