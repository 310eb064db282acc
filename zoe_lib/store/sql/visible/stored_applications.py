"""Stored applications: a row for each stored version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import distinct_on

from zoe_lib.schedules.values import StoredApplication
from zoe_lib.store.documents.rows import from_row
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import NotFound, TooManyStored
from zoe_lib.store.sql.visible.people import check_member
from zoe_lib.store.tables.accounts import tenants
from zoe_lib.store.tables.schedules import stored_applications

VERSIONS_MAX = 20
"""Maximum stored versions of each application, the newest."""
_T = stored_applications.c


def put(connection: Connection, application: StoredApplication, most: int) -> StoredApplication:
    """Store the next version and return it; a document equal to the newest makes no new version. It ends with the
    membership of its user.

    Raises NotFound for an unknown tenant or without a membership, and TooManyStored.
    """
    check_names(application.tenant, application.user or "", application.name)
    tenant = select(tenants.c.name).where(tenants.c.name == application.tenant).with_for_update()
    if connection.execute(tenant).first() is None:
        raise NotFound(f"tenant {application.tenant} does not exist")
    if application.user is not None:
        check_member(connection, application.user, application.tenant)
    owner = _is_owned_by(application.tenant, application.user)
    others = select(func.count(_T.name.distinct())).where(owner, _T.name != application.name)
    if connection.execute(others).scalar_one() >= most:
        whose = application.user or application.tenant
        raise TooManyStored(f"{whose} has {most} stored applications, which is the maximum; remove one")
    same = and_(owner, _T.name == application.name)
    newest = connection.execute(select(stored_applications).where(same).order_by(_T.version.desc()).limit(1)).first()
    if newest is not None and newest.document == application.document:
        return from_row(StoredApplication, newest)
    made = replace(application, version=1 if newest is None else newest.version + 1)
    values = {name: getattr(made, name) for name in ("tenant", "name", "version", "made_at_s", "made_by")}
    values |= {"user_name": made.user, "document": dict(made.document)}
    connection.execute(insert(stored_applications).values(values))
    connection.execute(delete(stored_applications).where(same, _T.version <= made.version - VERSIONS_MAX))
    return made


def read(connection: Connection, tenant: str, user: str) -> Sequence[StoredApplication]:
    """Return the newest versions of the tenant's and of the user's applications: those of the tenant first, then by
    name.
    """
    if not storable(tenant, user):
        return ()
    newest = (
        select(stored_applications)
        .where(_T.tenant == tenant, or_(_T.user_name == user, _T.user_name.is_(None)))
        .ext(distinct_on(_T.user_name, _T.name))
        .order_by(_T.user_name.nulls_first(), _T.name, _T.version.desc())
    )
    return [from_row(StoredApplication, row) for row in connection.execute(newest)]


def read_version(
    connection: Connection, tenant: str, user: str, name: str, version: int | None = None, of_tenant: bool = False
) -> StoredApplication:
    """Return a version (None: the newest) of the application that a user finds under a name, their own or the tenant's;
    NotFound.
    """
    unknown = NotFound(f"no application is stored as {name[:64]!r}" + (f" in version {version}" if version else ""))
    if not storable(tenant, user, name):
        raise unknown
    owners = _T.user_name.is_(None) if of_tenant else or_(_T.user_name == user, _T.user_name.is_(None))
    found = (
        select(stored_applications)
        .where(_T.tenant == tenant, owners, _T.name == name)
        .order_by(_T.user_name.nulls_last(), _T.version.desc())
    )
    rows = connection.execute(found).all()
    # A version of the tenant's application does not replace one of the user's own.
    for row in rows:
        if row.user_name == rows[0].user_name and version in (None, row.version):
            return from_row(StoredApplication, row)
    raise unknown


def versions(
    connection: Connection, tenant: str, user: str, name: str, of_tenant: bool = False
) -> Sequence[StoredApplication]:
    """Return the stored versions of the application that a user finds under a name, the newest first; NotFound."""
    newest = read_version(connection, tenant, user, name, None, of_tenant)
    found = (
        select(stored_applications)
        .where(_is_owned_by(tenant, newest.user), _T.name == name)
        .order_by(_T.version.desc())
    )
    return [from_row(StoredApplication, row) for row in connection.execute(found)]


def remove(connection: Connection, tenant: str, user: str | None, name: str) -> None:
    """Remove all versions; NotFound."""
    known = storable(tenant, user or "", name)
    gone = delete(stored_applications).where(_is_owned_by(tenant, user), _T.name == name)
    if not known or not connection.execute(gone).rowcount:
        raise NotFound(f"{user or tenant} has no stored application {name[:64]!r}")


def hand_over(connection: Connection, tenant: str, user: str, to: str) -> int:
    """Transfer all applications of a user to another member, under other names where these are taken; return how
    many.
    """
    names = connection.execute(select(_T.name).where(_is_owned_by(tenant, user)).distinct()).scalars().all()
    taken = set(connection.execute(select(_T.name).where(_is_owned_by(tenant, to)).distinct()).scalars())
    for name in names:
        free = free_name(name, taken)
        taken.add(free)
        same = and_(_is_owned_by(tenant, user), _T.name == name)
        connection.execute(update(stored_applications).where(same).values(user_name=to, name=free))
    return len(names)


def free_name(name: str, taken: set[str]) -> str:
    """Return the name, or with the first free number appended."""
    tried = (f"{name[:58]}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(try_ for try_ in tried if try_ not in taken)


def _is_owned_by(tenant: str, user: str | None) -> ColumnElement[bool]:
    return and_(_T.tenant == tenant, _T.user_name.is_not_distinct_from(user))
