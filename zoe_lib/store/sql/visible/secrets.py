"""Sealed secrets of users and tenants."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import NotFound, TooManySecrets
from zoe_lib.store.people import SealedSecret
from zoe_lib.store.sql.visible.people import check_member
from zoe_lib.store.tables.accounts import OF_TENANT, secrets, tenants

_OWNER = (secrets.c.user_name.nulls_first(), secrets.c.name)


def put(connection: Connection, secret: SealedSecret, most: int) -> None:
    """Store a secret, replacing an earlier value. It ends with the membership of its user.

    Raises NotFound for an unknown tenant or without a membership, and TooManySecrets.
    """
    check_names(secret.tenant, secret.user or "", secret.name)
    # Locked, so that no two calls take the last place.
    tenant = select(tenants.c.name).where(tenants.c.name == secret.tenant).with_for_update(key_share=True)
    if connection.execute(tenant).first() is None:
        raise NotFound(f"tenant {secret.tenant} does not exist")
    if secret.user is not None:
        check_member(connection, secret.user, secret.tenant)
    others = and_(_is_owned_by(secret.tenant, secret.user), secrets.c.name != secret.name)
    if connection.execute(select(func.count()).select_from(secrets).where(others)).scalar_one() >= most:
        raise TooManySecrets(f"{secret.user or secret.tenant} has {most} secrets, which is the maximum; remove one")
    values = asdict(secret)
    values["user_name"] = values.pop("user")
    upsert = insert(secrets).values(values)
    if secret.user is None:
        upsert = upsert.on_conflict_do_update(
            index_elements=[secrets.c.tenant, secrets.c.name], index_where=OF_TENANT, set_=values
        )
    else:
        of_user = [secrets.c.tenant, secrets.c.user_name, secrets.c.name]
        upsert = upsert.on_conflict_do_update(index_elements=of_user, set_=values)
    connection.execute(upsert)


def read(connection: Connection, tenant: str, user: str) -> Sequence[SealedSecret]:
    """Return the tenant's secrets and the user's own in it: those of the tenant first, then by name."""
    if not storable(tenant, user):
        return ()
    mine = or_(secrets.c.user_name == user, secrets.c.user_name.is_(None))
    found = select(secrets).where(secrets.c.tenant == tenant, mine).order_by(*_OWNER)
    return [from_row(SealedSecret, row) for row in connection.execute(found)]


def names_of(connection: Connection, tenant: str, user: str, names: Collection[str]) -> frozenset[str]:
    """Return which of these names have a secret that a user's services can use in a tenant."""
    if not storable(tenant, user, *names):
        return frozenset()
    mine = or_(secrets.c.user_name == user, secrets.c.user_name.is_(None))
    found = select(secrets.c.name).where(secrets.c.tenant == tenant, mine, secrets.c.name.in_(sorted(names)))
    return frozenset(connection.execute(found).scalars())


def of_tenant(connection: Connection, tenant: str) -> Sequence[SealedSecret]:
    """Return all secrets in a tenant, including those of its users."""
    found = select(secrets).where(secrets.c.tenant == tenant).order_by(*_OWNER)
    return [from_row(SealedSecret, row) for row in connection.execute(found)]


def reseal(connection: Connection, was: SealedSecret, sealed: bytes) -> bool:
    """Store the same value sealed with another key; False, without a change, if it was set or removed in between."""
    same = and_(_is_owned_by(was.tenant, was.user), secrets.c.name == was.name, secrets.c.sealed == was.sealed)
    return connection.execute(update(secrets).where(same).values(sealed=sealed)).rowcount == 1


def remove(connection: Connection, tenant: str, user: str | None, name: str) -> None:
    """Remove a secret; NotFound."""
    known = storable(tenant, user or "", name)
    if (
        not known
        or not connection.execute(delete(secrets).where(_is_owned_by(tenant, user), secrets.c.name == name)).rowcount
    ):
        raise NotFound(f"{user or tenant} has no secret {name[:64]!r}")


def _is_owned_by(tenant: str, user: str | None) -> ColumnElement[bool]:
    return and_(secrets.c.tenant == tenant, secrets.c.user_name.is_not_distinct_from(user))
