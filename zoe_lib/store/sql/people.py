"""Users, tenants and memberships."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.roles import Role
from zoe_lib.store.base import ConcurrentUpdate, NotFound
from zoe_lib.store.codec import encode
from zoe_lib.store.people import AuditEntry, Membership, Roles, Tenant, User, adoption_entries
from zoe_lib.store.rows import Row
from zoe_lib.store.sql import audit
from zoe_lib.store.tables import memberships, sessions, tenants, users


def ensure_member(connection: Connection, user: str, tenant: str, role: str) -> None:
    """Make user, tenant and membership, or change the role."""
    connection.execute(insert(users).values(name=user).on_conflict_do_nothing())
    connection.execute(insert(tenants).values(name=tenant).on_conflict_do_nothing())
    member = insert(memberships).values(user_name=user, tenant=tenant, role=Role(role).value)
    key = [memberships.c.user_name, memberships.c.tenant]
    connection.execute(member.on_conflict_do_update(index_elements=key, set_={"role": Role(role).value}))


def remove_member(connection: Connection, user: str, tenant: str) -> None:
    """End a membership; tokens and sessions go with it."""
    member = (memberships.c.user_name == user, memberships.c.tenant == tenant)
    if connection.execute(delete(memberships).where(*member)).rowcount != 1:
        raise NotFound(f"{user} is no member of {tenant}")


def check_member(connection: Connection, user: str, tenant: str) -> None:
    """NotFound when the user is no member."""
    member = (memberships.c.user_name == user, memberships.c.tenant == tenant)
    if connection.execute(select(memberships.c.role).where(*member)).first() is None:
        raise NotFound(f"{user} is no member of {tenant}")


def read_memberships(connection: Connection, user: str | None, tenant: str | None) -> Sequence[Membership]:
    """Of a user, of a tenant, or all."""
    statement = select(memberships).order_by(memberships.c.tenant, memberships.c.user_name)
    if user is not None:
        statement = statement.where(memberships.c.user_name == user)
    if tenant is not None:
        statement = statement.where(memberships.c.tenant == tenant)
    return [Membership(row.user_name, row.tenant, Role(row.role)) for row in connection.execute(statement)]


def add_user(connection: Connection, user: User) -> None:
    """Keep a user."""
    row = insert(users).values(encode(user))
    if connection.execute(row.on_conflict_do_nothing()).rowcount != 1:
        raise ConcurrentUpdate(f"there is a user {user.name} already")


def read_users(connection: Connection) -> Sequence[User]:
    """All users by name."""
    return [_to_user(row) for row in connection.execute(select(users).order_by(users.c.name))]


def read_user(connection: Connection, name: str) -> User:
    """One user."""
    row = connection.execute(select(users).where(users.c.name == name)).one_or_none()
    if row is None:
        raise NotFound(f"there is no user {name!r}")
    return _to_user(row)


def adopt(connection: Connection, user: User, roles: Roles, managed: Collection[str], entry: AuditEntry | None) -> User:
    """Keep a user whom a provider knows, with roles in the managed tenants."""
    made = connection.execute(insert(users).values(encode(user)).on_conflict_do_nothing()).rowcount == 1
    known = (users.c.provider == user.provider, users.c.subject == user.subject)
    row = connection.execute(select(users).where(*known).with_for_update()).one_or_none()
    if row is None:
        raise ConcurrentUpdate(f"the name {user.name} is somebody else's here")
    before = _roles(connection, row.name)
    there = connection.execute(select(tenants.c.name).where(tenants.c.name.in_(roles)))
    wanted = {name: roles[name] for name in there.scalars()}
    mine = (memberships.c.user_name == row.name, memberships.c.tenant.in_(set(managed) - wanted.keys()))
    connection.execute(delete(memberships).where(*mine))
    for tenant, role in sorted(wanted.items()):
        ensure_member(connection, row.name, tenant, role)
    if entry is not None:
        for change in adoption_entries(entry, row.name, made, before, _roles(connection, row.name)):
            audit.add(connection, change)
    return _to_user(row)


def set_password(connection: Connection, name: str, password_hash: str | None) -> None:
    """Replace the hash; the sessions end."""
    _change_user(connection, name, password_hash=password_hash)
    connection.execute(delete(sessions).where(sessions.c.user_name == name))


def set_disabled(connection: Connection, name: str, disabled: bool) -> None:
    """Disable or enable; who is disabled loses the sessions."""
    _change_user(connection, name, disabled=disabled)
    if disabled:
        connection.execute(delete(sessions).where(sessions.c.user_name == name))


def add_tenant(connection: Connection, name: str) -> None:
    """Keep a tenant."""
    if connection.execute(insert(tenants).values(name=name).on_conflict_do_nothing()).rowcount != 1:
        raise ConcurrentUpdate(f"there is a tenant {name} already")


def read_tenants(connection: Connection) -> Sequence[Tenant]:
    """All tenants by name."""
    rows = connection.execute(select(tenants).order_by(tenants.c.name))
    return [Tenant(row.name) for row in rows]


def _roles(connection: Connection, user: str) -> Roles:
    return {one.tenant: one.role for one in read_memberships(connection, user, None)}


def _to_user(row: Row) -> User:
    return User(row.name, row.password_hash, row.disabled, row.provider, row.subject)


def _change_user(connection: Connection, name: str, **values: object) -> None:
    if connection.execute(update(users).where(users.c.name == name).values(**values)).rowcount != 1:
        raise NotFound(f"there is no user {name!r}")
