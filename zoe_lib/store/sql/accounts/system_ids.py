"""Numbers of system users and groups; a number is never assigned twice."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Connection, func, insert, select

from zoe_lib.store.documents.text import check_names
from zoe_lib.store.errors import NoSystemIds
from zoe_lib.store.tables.accounts import system_ids

_LOCK = 0x5A6F65_05


class IdKind(StrEnum):
    """Kinds of numbers: a user's uid, or a tenant's gid."""

    USER = "user"
    TENANT = "tenant"


def assign(connection: Connection, kind: IdKind, name: str, first: int, last: int) -> int:
    """Return the number of a user or tenant; the first time, an unused one of the range. NoSystemIds.

    An assigned number stays, even outside the present range.
    """
    check_names(name)
    # No two processes assign the same number, nor two numbers to one name.
    connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
    here = (system_ids.c.kind == kind.value, system_ids.c.name == name)
    known: int | None = connection.execute(select(system_ids.c.number).where(*here)).scalar_one_or_none()
    if known is not None:
        return known
    newest: int | None = connection.execute(
        select(func.max(system_ids.c.number)).where(system_ids.c.number.between(first, last))
    ).scalar_one()
    number = first if newest is None else newest + 1
    if number > last:
        raise NoSystemIds(f"all numbers from {first} to {last} are in use; raise user_ids_last")
    connection.execute(insert(system_ids).values(kind=kind.value, name=name, number=number))
    return number
