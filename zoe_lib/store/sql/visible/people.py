"""Users, tenants and memberships."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.applications.roles import Role
from zoe_lib.store.documents.codec import encode
from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import NameTaken, NotFound, Unstorable
from zoe_lib.store.people import AuditEntry, Membership, Roles, Tenant, User, adoption_entries
from zoe_lib.store.sql.visible.audit import add as add_audit
from zoe_lib.store.tables.accounts import memberships, sessions, tenants, users


def ensure_member(connection: Connection, user: str, tenant: str, role: str) -> None:
    """Create user, tenant and membership with this role, if they are missing."""
    connection.execute(insert(users).values(name=user).on_conflict_do_nothing())
    connection.execute(insert(tenants).values(name=tenant).on_conflict_do_nothing())
    member = insert(memberships).values(user_name=user, tenant=tenant, role=Role(role).value)
    key = [memberships.c.user_name, memberships.c.tenant]
    connection.execute(member.on_conflict_do_update(index_elements=key, set_={"role": Role(role).value}))


def remove_member(connection: Connection, user: str, tenant: str) -> None:
    """End a membership, with its tokens and sessions; NotFound."""
    check_names(user, tenant)
    member = (memberships.c.user_name == user, memberships.c.tenant == tenant)
    if connection.execute(delete(memberships).where(*member)).rowcount != 1:
        raise NotFound(f"{user} is not a member of {tenant}")


def check_member(connection: Connection, user: str, tenant: str) -> None:
    """Raise NotFound if the user is not a member."""
    member = (memberships.c.user_name == user, memberships.c.tenant == tenant)
    if connection.execute(select(memberships.c.role).where(*member)).first() is None:
        raise NotFound(f"{user} is not a member of {tenant}")


def read_memberships(
    connection: Connection, user: str | None = None, tenant: str | None = None
) -> Sequence[Membership]:
    """Return memberships by tenant, then user."""
    if not storable(user, tenant):
        return ()
    statement = select(memberships).order_by(memberships.c.tenant, memberships.c.user_name)
    if user is not None:
        statement = statement.where(memberships.c.user_name == user)
    if tenant is not None:
        statement = statement.where(memberships.c.tenant == tenant)
    return [Membership(row.user_name, row.tenant, Role(row.role)) for row in connection.execute(statement)]


def add_user(connection: Connection, user: User) -> None:
    """Store a new user; NameTaken if the name is taken."""
    row = insert(users).values(encode(user))
    if connection.execute(row.on_conflict_do_nothing()).rowcount != 1:
        raise NameTaken(f"user {user.name} already exists")


def read_users(connection: Connection) -> Sequence[User]:
    """Return all users by name."""
    return [from_row(User, row) for row in connection.execute(select(users).order_by(users.c.name))]


def read_user(connection: Connection, name: str) -> User:
    """Return one user; NotFound."""
    check_names(name)
    row = connection.execute(select(users).where(users.c.name == name)).one_or_none()
    if row is None:
        raise NotFound(f"user {name!r} does not exist")
    return from_row(User, row)


def adopt(
    connection: Connection, user: User, roles: Roles, managed: Collection[str], audit: AuditEntry | None = None
) -> User:
    """Store a user known to a provider, with these roles in the tenants of `managed` and no others there.

    A user already known by provider and subject keeps the first name. Raises NameTaken if another identity has the
    name. Roles in unknown tenants are ignored. `audit` is written for each change, in the same transaction.
    """
    if not storable(user.name, user.subject):
        raise Unstorable("the provider's facts about this user cannot be stored")
    made = connection.execute(insert(users).values(encode(user)).on_conflict_do_nothing()).rowcount == 1
    is_user = (users.c.provider == user.provider, users.c.subject == user.subject)
    row = connection.execute(select(users).where(*is_user).with_for_update()).one_or_none()
    if row is None:
        raise NameTaken(f"the name {user.name} is taken by another identity")
    before = _roles(connection, row.name)
    there = connection.execute(select(tenants.c.name).where(tenants.c.name.in_(roles)))
    wanted_roles = {name: roles[name] for name in there.scalars()}
    ended = (memberships.c.user_name == row.name, memberships.c.tenant.in_(set(managed) - wanted_roles.keys()))
    connection.execute(delete(memberships).where(*ended))
    for tenant, role in sorted(wanted_roles.items()):
        ensure_member(connection, row.name, tenant, role)
    if audit is not None:
        for change in adoption_entries(audit, row.name, made, before, _roles(connection, row.name)):
            add_audit(connection, change)
    return from_row(User, row)


def set_password(connection: Connection, name: str, password_hash: str | None) -> None:
    """Replace the hash of a password and end the user's sessions; NotFound."""
    check_names(name)
    _change_user(connection, name, password_hash=password_hash)
    connection.execute(delete(sessions).where(sessions.c.user_name == name))


def set_disabled(connection: Connection, name: str, disabled: bool) -> None:
    """Disable or enable a user. A disabled user loses all sessions. Raises NotFound."""
    check_names(name)
    _change_user(connection, name, disabled=disabled)
    if disabled:
        connection.execute(delete(sessions).where(sessions.c.user_name == name))


def add_tenant(connection: Connection, name: str) -> None:
    """Store a new tenant; NameTaken if the name is taken."""
    if connection.execute(insert(tenants).values(name=name).on_conflict_do_nothing()).rowcount != 1:
        raise NameTaken(f"tenant {name} already exists")


def read_tenants(connection: Connection) -> Sequence[Tenant]:
    """Return all tenants by name."""
    rows = connection.execute(select(tenants).order_by(tenants.c.name))
    return [Tenant(row.name) for row in rows]


def _roles(connection: Connection, user: str) -> Roles:
    return {membership.tenant: membership.role for membership in read_memberships(connection, user)}


def _change_user(connection: Connection, name: str, **values: object) -> None:
    if connection.execute(update(users).where(users.c.name == name).values(**values)).rowcount != 1:
        raise NotFound(f"user {name!r} does not exist")
