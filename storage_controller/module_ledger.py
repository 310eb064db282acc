"""Modules that are filters of objects, in PostgreSQL: what each tenant calls by a name, and contents by digest.

A content that a proxy may have stored objects with stays for good: only by it can they be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import Refused
from storage_controller.ledger import Ledger
from storage_controller.tables import module_contents, modules
from storage_filters.rule_documents import ModuleVersion
from zoe_lib.clock import SYSTEM_CLOCK, Clock

NAMES_MAX = 64
"""Modules of a tenant."""
CONTENTS_MAX = 1000
"""Of all tenants, with those that stored objects may need: 1 MiB each at most."""
_LOCK = 0x5A6F654D  # the lock of who adds modules, so that their number stays bounded


@dataclass(frozen=True, slots=True)
class KeptModule:
    """A module by its name. tenant: empty for one that all tenants share. created_s: since the epoch."""

    tenant: str
    name: str
    sha256: str
    bytes: int
    reads: bool
    same_size: bool
    author: str | None
    created_s: float


class ModuleLedger:
    """Names are compared without regard to case, like those of filters in rules, and kept in small letters."""

    def __init__(self, ledger: Ledger, clock: Clock = SYSTEM_CLOCK) -> None:
        self._begin = ledger.begin
        self._clock = clock

    def modules(self, tenant: str | None = None) -> Sequence[KeptModule]:
        """Return all modules, or those that rules for a tenant may name."""
        size = sa.func.octet_length(module_contents.c.data).label("bytes")
        contents = module_contents.c
        found = sa.select(modules, size, contents.reads, contents.same_size).join(module_contents)
        if tenant is not None:
            found = found.where(modules.c.tenant.in_(("", tenant)))
        with self._begin() as connection:
            rows = connection.execute(found.order_by(modules.c.tenant, modules.c.name))
            return [KeptModule(**row._mapping) for row in rows]

    def keep(self, tenant: str, name: str, data: bytes, kind: tuple[bool, bool], author: str | None) -> KeptModule:
        """Create a module or a new version of it. kind: whether it reads, and keeps sizes. Refused."""
        name, sha256 = name.lower(), hashlib.sha256(data).hexdigest()
        reads, same_size = kind
        content = {"sha256": sha256, "data": data, "reads": reads, "same_size": same_size}
        at_s = self._clock.now_s()
        named = {"sha256": sha256, "author": author, "created_s": at_s}
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            self._check(connection, tenant, name)
            connection.execute(insert(module_contents).values(content).on_conflict_do_nothing())
            upsert = insert(modules).values(tenant=tenant, name=name, **named)
            connection.execute(upsert.on_conflict_do_update(index_elements=["tenant", "name"], set_=named))
            _drop_unneeded(connection)
            count = connection.execute(sa.select(sa.func.count()).select_from(module_contents)).scalar_one()
            if count > CONTENTS_MAX:
                raise Refused(409, f"{CONTENTS_MAX} versions of modules are kept, and no more: objects may need them")
        return KeptModule(tenant, name, sha256, len(data), reads, same_size, author, at_s)

    def drop(self, tenant: str, name: str) -> bool:
        """Remove a name, and its content if no object can need it; return whether it was there."""
        mine = sa.and_(modules.c.tenant == tenant, modules.c.name == name.lower())
        with self._begin() as connection:
            there = connection.execute(sa.delete(modules).where(mine)).rowcount > 0
            _drop_unneeded(connection)
            return there

    def content(self, sha256: str) -> bytes | None:
        """Return a module's file for a proxy, which may store objects with it from now on; None if there is none."""
        sent = sa.update(module_contents).where(module_contents.c.sha256 == sha256).values(sent=True)
        with self._begin() as connection:
            found: bytes | None = connection.execute(sent.returning(module_contents.c.data)).scalar_one_or_none()
            return None if found is None else bytes(found)

    def _check(self, connection: sa.Connection, tenant: str, name: str) -> None:
        mine = modules.c.tenant == tenant
        names = {row.name for row in connection.execute(sa.select(modules.c.name).where(mine))}
        if name not in names and len(names) >= NAMES_MAX:
            raise Refused(409, f"there are {len(names)} modules already, and at most {NAMES_MAX} are kept")
        shared = sa.and_(modules.c.tenant == "", modules.c.name == name)
        if tenant and connection.execute(sa.select(modules.c.name).where(shared)).first():
            raise Refused(409, f"there is a shared module {name}, which rules would set instead: use another name")


def versions(connection: sa.Connection, kinds: Collection[str] | None = None) -> dict[str, dict[str, ModuleVersion]]:
    """Return the newest version of each module, or of those of these kinds, by tenant and name in capitals."""
    found = sa.select(modules, module_contents.c.reads).join(module_contents)
    if kinds is not None:
        found = found.where(sa.func.upper(modules.c.name).in_(sorted(kinds)))
    made: dict[str, dict[str, ModuleVersion]] = {}
    for row in connection.execute(found):
        made.setdefault(row.tenant, {})[row.name.upper()] = ModuleVersion(row.name, row.sha256, row.reads)
    return made


def file_of(connection: sa.Connection, tenant: str, kind: str) -> bytes | None:
    """Return the file of the module that a rule for a tenant sets by a name in capitals; None if there is none."""
    found = (
        sa.select(module_contents.c.data)
        .join(modules, modules.c.sha256 == module_contents.c.sha256)
        .where(sa.func.upper(modules.c.name) == kind, modules.c.tenant.in_({"", tenant}))
        .order_by(modules.c.tenant)  # a shared one first
        .limit(1)
    )
    data = connection.execute(found).scalar_one_or_none()
    return None if data is None else bytes(data)


def document(one: KeptModule, used_by: Sequence[int] = ()) -> Mapping[str, Any]:
    """Return what clients see of a module. used_by: the rules that set it."""
    return {
        "tenant": one.tenant or None,
        "name": one.name,
        "sha256": one.sha256,
        "bytes": one.bytes,
        "runs": "read" if one.reads else "stored",
        "same_size": one.same_size,
        "author": one.author,
        "created_s": one.created_s,
        "rules": list(used_by),
    }


def _drop_unneeded(connection: sa.Connection) -> None:
    named = sa.select(modules.c.sha256)
    unneeded = sa.or_(module_contents.c.reads, sa.not_(module_contents.c.sent))
    connection.execute(sa.delete(module_contents).where(unneeded, module_contents.c.sha256.not_in(named)))
