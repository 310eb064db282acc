"""How tenants log in to services of the object store, sealed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.store.base import NotFound
from zoe_lib.store.people import SealedCredential
from zoe_lib.store.tables import storage_credentials, tenants

_KEY = (storage_credentials.c.tenant, storage_credentials.c.service)


def put(connection: Connection, credential: SealedCredential) -> None:
    """Keep it, in place of an earlier one; NotFound for an unknown tenant."""
    if connection.execute(select(tenants.c.name).where(tenants.c.name == credential.tenant)).first() is None:
        raise NotFound(f"there is no tenant {credential.tenant}")
    values = {
        "tenant": credential.tenant,
        "service": credential.service,
        "login": credential.login,
        "sealed": credential.sealed,
        "set_at_s": credential.set_at_s,
        "set_by": credential.set_by,
    }
    upsert = insert(storage_credentials).values(values)
    connection.execute(upsert.on_conflict_do_update(index_elements=list(_KEY), set_=values))


def read(connection: Connection, tenant: str) -> Sequence[SealedCredential]:
    """Those of a tenant, by service."""
    wanted = select(storage_credentials).where(storage_credentials.c.tenant == tenant).order_by(*_KEY)
    return [
        SealedCredential(row.tenant, row.service, row.login, row.sealed, row.set_at_s, row.set_by)
        for row in connection.execute(wanted)
    ]


def reseal(connection: Connection, was: SealedCredential, sealed: bytes) -> bool:
    """Replace what is sealed, unless it is no longer what it was."""
    table = storage_credentials.c
    same = (table.tenant == was.tenant, table.service == was.service, table.sealed == was.sealed)
    return connection.execute(update(storage_credentials).where(*same).values(sealed=sealed)).rowcount == 1


def remove(connection: Connection, tenant: str, service: str) -> None:
    """Forget one; NotFound."""
    mine = (storage_credentials.c.tenant == tenant, storage_credentials.c.service == service)
    if connection.execute(delete(storage_credentials).where(*mine)).rowcount != 1:
        raise NotFound(f"{tenant} has no credentials for {service}")
