"""Modules that filter objects, in PostgreSQL: names by tenant, and contents by digest.

The contents of a module stay as long as a proxy may have stored objects with it: these are readable only through it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.tables import module_contents, module_versions, modules, rewrites, rule_modules
from storage_filters.rules.documents import SHARED
from storage_filters.rules.rules import ModuleVersion
from zoe_lib.clock import SYSTEM_CLOCK, Clock

NAMES_MAX = 64
"""Most modules of a tenant."""
PROXIES_LEARN_S = 60.0
"""Seconds for which proxies may still store objects by earlier rules."""
VERSIONS_MAX = 200
"""Most versions of a tenant's modules, of 1 MiB each. The bound is not shared, so no tenant blocks another. Uploads of
users keep only the newest version of each name: others stay because an admin's rule runs them, or ran them when objects
were stored.
"""
_LOCK = 0x5A6F654D  # lock of requests that add modules, so that their number stays bounded


@dataclass(frozen=True, slots=True)
class KeptModule:
    """A named module. tenant: empty for a shared one. created_s: since the epoch."""

    tenant: str
    name: str
    sha256: str
    bytes: int
    reads: bool
    same_size: bool
    author: str | None
    created_s: float


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A stored version of a module. newest: new rules run it. objects: stored objects may need it."""

    tenant: str
    name: str
    sha256: str
    author: str | None
    created_s: float
    newest: bool
    objects: bool


class ModuleLedger:
    """Stored modules. Names are case-insensitive, like filters in rules, and stored in lower case."""

    def __init__(self, ledger: Ledger, clock: Clock = SYSTEM_CLOCK) -> None:
        self._begin = ledger.begin
        self._clock = clock

    def modules(self, tenant: str | None = None) -> Sequence[KeptModule]:
        """Return all modules, or those available to rules for a tenant."""
        size = sa.func.octet_length(module_contents.c.data).label("bytes")
        contents = module_contents.c
        found = sa.select(modules, size, contents.reads, contents.same_size).join(module_contents)
        if tenant is not None:
            found = found.where(modules.c.tenant.in_(("", tenant)))
        with self._begin() as connection:
            rows = connection.execute(found.order_by(modules.c.tenant, modules.c.name))
            return [KeptModule(**row._mapping) for row in rows]

    def keep(
        self,
        tenant: str,
        name: str,
        data: bytes,
        kind: tuple[bool, bool],
        author: str | None,
        only_author: bool = False,
    ) -> KeptModule:
        """Create a module or a new version of it. kind: whether it reads, and keeps sizes. only_author: refuse a new
        version by another author than that of the present one. Raises RequestRefusedError.
        """
        name, sha256 = name.lower(), hashlib.sha256(data).hexdigest()
        reads, same_size = kind
        content = {"sha256": sha256, "data": data, "reads": reads, "same_size": same_size}
        at_s = self._clock.now_s()
        named = {"sha256": sha256, "author": author, "created_s": at_s}
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            self._check(connection, tenant, name)
            if only_author:
                _refuse_others(connection, tenant, name, author)
            connection.execute(insert(module_contents).values(content).on_conflict_do_nothing())
            upsert = insert(modules).values(tenant=tenant, name=name, **named)
            connection.execute(upsert.on_conflict_do_update(index_elements=["tenant", "name"], set_=named))
            version = insert(module_versions).values(tenant=tenant, name=name, **named)
            connection.execute(version.on_conflict_do_nothing())
            drop_unneeded(connection, at_s)
            mine = sa.select(sa.func.count()).select_from(module_versions).where(module_versions.c.tenant == tenant)
            if connection.execute(mine).scalar_one() > VERSIONS_MAX:
                raise RequestRefusedError(
                    409,
                    f"{VERSIONS_MAX} versions of modules of this tenant are kept, and no more, as rules run them or "
                    "stored objects may need them: an admin removes some (zoe storage filter rm NAME --version SHA256)",
                )
        return KeptModule(tenant, name, sha256, len(data), reads, same_size, author, at_s)

    def drop(self, tenant: str, name: str, author: str | None = None, only_author: bool = False) -> bool:
        """Remove a name that no rule runs, and its content if no object can need it; return whether it existed.
        only_author: refuse other users. Raises RequestRefusedError.
        """
        mine = sa.and_(modules.c.tenant == tenant, modules.c.name == name.lower())
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            if only_author:
                _refuse_others(connection, tenant, name.lower(), author)
            used = sa.select(rule_modules.c.rule).where(
                rule_modules.c.tenant == tenant, rule_modules.c.name == name.lower()
            )
            if (rule := connection.execute(used.order_by(rule_modules.c.rule).limit(1)).scalar()) is not None:
                raise RequestRefusedError(409, f"rule {rule} uses the filter {name}: remove the rule first")
            there = connection.execute(sa.delete(modules).where(mine)).rowcount > 0
            drop_unneeded(connection, self._clock.now_s())
            return there

    def versions(self, tenant: str | None = None) -> Sequence[KeptVersion]:
        """Return the stored versions: of all tenants, or of one tenant and shared ones."""
        kept, content = module_versions.c, module_contents.c
        same = sa.and_(modules.c.tenant == kept.tenant, modules.c.name == kept.name, modules.c.sha256 == kept.sha256)
        newest = sa.func.coalesce(modules.c.sha256 == kept.sha256, sa.false()).label("newest")
        objects = sa.and_(content.sent, sa.not_(content.reads)).label("objects")
        found = (
            sa.select(kept.tenant, kept.name, kept.sha256, kept.author, kept.created_s, newest, objects)
            .join(module_contents, content.sha256 == kept.sha256)
            .outerjoin(modules, same)
            .order_by(kept.tenant, kept.name, kept.created_s, kept.sha256)
        )
        if tenant is not None:
            found = found.where(kept.tenant.in_(("", tenant)))
        with self._begin() as connection:
            return [KeptVersion(**row._mapping) for row in connection.execute(found)]

    def forget(self, tenant: str, name: str, sha256: str) -> None:
        """Remove a version that is stored for objects only, after all objects of the tenant were rewritten by rules
        that do not run it. sha256: its beginning is enough. Raises RequestRefusedError.
        """
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            version, _ = content_of(connection, tenant, name.lower(), sha256)
            _refuse_needed(connection, tenant, version)
            kept = module_versions.c
            mine = sa.and_(kept.tenant == tenant, kept.name == version.name, kept.sha256 == version.sha256)
            connection.execute(sa.delete(module_versions).where(mine))
            others = sa.select(kept.sha256).where(kept.sha256 == version.sha256)
            if connection.execute(others.limit(1)).first() is None:
                connection.execute(sa.delete(module_contents).where(module_contents.c.sha256 == version.sha256))

    def content(self, sha256: str) -> bytes | None:
        """Return a module's file for a proxy, which may store objects with it from now on; None if it does not
        exist.
        """
        sent = sa.update(module_contents).where(module_contents.c.sha256 == sha256).values(sent=True)
        with self._begin() as connection:
            found: bytes | None = connection.execute(sent.returning(module_contents.c.data)).scalar_one_or_none()
            return None if found is None else bytes(found)

    def _check(self, connection: sa.Connection, tenant: str, name: str) -> None:
        mine = modules.c.tenant == tenant
        names = {row.name for row in connection.execute(sa.select(modules.c.name).where(mine))}
        if name not in names and len(names) >= NAMES_MAX:
            raise RequestRefusedError(409, f"there are {len(names)} modules already, and at most {NAMES_MAX} are kept")
        shared = sa.and_(modules.c.tenant == "", modules.c.name == name)
        if tenant and connection.execute(sa.select(modules.c.name).where(shared)).first():
            raise RequestRefusedError(
                409, f"there is a shared module {name}, which rules would set instead: use another name"
            )


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
    """Return the file of the module that a rule for a tenant sets by an upper-case name; None if it does not exist."""
    found = (
        sa.select(module_contents.c.data)
        .join(modules, modules.c.sha256 == module_contents.c.sha256)
        .where(sa.func.upper(modules.c.name) == kind, modules.c.tenant.in_({"", tenant}))
        .order_by(modules.c.tenant)  # a shared one first
        .limit(1)
    )
    data = connection.execute(found).scalar_one_or_none()
    return None if data is None else bytes(data)


def content_of(connection: sa.Connection, tenant: str, name: str, sha256: str | None) -> tuple[ModuleVersion, bytes]:
    """Return a version of a module, or the newest one, with its file. sha256: its beginning is enough. Raises
    Refused.
    """
    kept, newest = module_versions.c, modules.c
    found = sa.select(kept.sha256, module_contents.c.reads, module_contents.c.data).join(module_contents)
    found = found.where(kept.tenant == tenant, kept.name == name)
    if sha256 is None:
        same = sa.and_(newest.tenant == kept.tenant, newest.name == kept.name, newest.sha256 == kept.sha256)
        found = found.join(modules, same)
    else:
        found = found.where(kept.sha256.startswith(sha256, autoescape=True))
    rows = connection.execute(found.limit(2)).all()
    if len(rows) != 1:
        which = "newest version" if sha256 is None else f"version {sha256}"
        raise RequestRefusedError(
            404 if not rows else 409,
            f"there is {'no' if not rows else 'more than one'} {which} of {name}; see zoe storage filter ls --versions",
        )
    return ModuleVersion(name, rows[0].sha256, rows[0].reads), bytes(rows[0].data)


def drop_unneeded(connection: sa.Connection, now_s: float) -> None:
    """Remove the versions that are not the newest, that no rule runs, and that no stored object can need; record since
    when no rule runs the others.
    """
    kept, content = module_versions.c, module_contents.c
    newest = sa.select(modules.c.sha256).where(
        modules.c.tenant == kept.tenant, modules.c.name == kept.name, modules.c.sha256 == kept.sha256
    )
    run = sa.select(rule_modules.c.rule).where(
        rule_modules.c.tenant == kept.tenant, rule_modules.c.name == kept.name, rule_modules.c.sha256 == kept.sha256
    )
    stored = sa.select(content.sha256).where(content.sent, sa.not_(content.reads), content.sha256 == kept.sha256)
    unneeded = (sa.not_(entry.exists()) for entry in (newest, run, stored))
    connection.execute(sa.delete(module_versions).where(*unneeded))
    idle = sa.case((run.exists(), None), else_=sa.func.coalesce(kept.idle_since_s, now_s))
    connection.execute(sa.update(module_versions).values(idle_since_s=idle))
    of_objects = sa.and_(content.sent, sa.not_(content.reads))  # also of names that were removed
    here = sa.select(kept.sha256)
    connection.execute(sa.delete(module_contents).where(sa.not_(of_objects), content.sha256.not_in(here)))


def _refuse_needed(connection: sa.Connection, tenant: str, version: ModuleVersion) -> None:
    """Raise RequestRefusedError if a rule, a name or a stored object may need a version."""
    of = {"tenant": tenant, "name": version.name, "sha256": version.sha256}
    short = version.sha256[:12]
    if connection.execute(sa.select(modules.c.name).filter_by(**of)).first():
        raise RequestRefusedError(
            409, f"{short} is the newest version of {version.name}: remove the filter, or upload a newer version first"
        )
    if (rule := connection.execute(sa.select(rule_modules.c.rule).filter_by(**of).limit(1)).scalar()) is not None:
        raise RequestRefusedError(409, f"rule {rule} uses version {short}: change the rule to another version first")
    if tenant == SHARED:
        raise RequestRefusedError(
            409, f"version {short} of the shared filter {version.name} stays: stored objects of any tenant may need it"
        )
    since = connection.execute(
        sa.select(sa.func.coalesce(module_versions.c.idle_since_s, module_versions.c.created_s))
        .where(module_versions.c.tenant == tenant, module_versions.c.name == version.name)
        .where(module_versions.c.sha256 == version.sha256)
    ).scalar_one()
    jobs = rewrites.c
    whole = (jobs.tenant == tenant, jobs.container == "", sa.not_(jobs.dry_run))
    done = (jobs.ended_s.is_not(None), sa.not_(jobs.cancelled), jobs.waits == "", jobs.failed == 0)
    late = jobs.created_s > since + PROXIES_LEARN_S
    if connection.execute(sa.select(jobs.id).where(*whole, *done, late).limit(1)).first() is None:
        raise RequestRefusedError(
            409,
            f"objects of {tenant} may need {short}: store all of them again first (zoe storage policy apply {tenant}), "
            "without a failure, at least a minute after the last rule ran it",
        )


def _refuse_others(connection: sa.Connection, tenant: str, name: str, author: str | None) -> None:
    """Raise RequestRefusedError if the module exists and has another author."""
    mine = sa.select(modules.c.author).where(modules.c.tenant == tenant, modules.c.name == name)
    row = connection.execute(mine).one_or_none()
    if row is not None and (author is None or row.author != author):
        whose = f"{row.author}'s" if row.author else "an admin's"
        raise RequestRefusedError(
            409, f"{name} is {whose} module: its author or an admin changes it; use another name for yours"
        )
