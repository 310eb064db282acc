"""The controller's guarantees, executions and views in PostgreSQL. Every call is one transaction, except within
`together`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import REGCLASS, insert

from storage_bridge.model import BandwidthSlo, EndedTransfers, StoreExecution, TransferTotals, View
from storage_controller.database import transfer_rows, use_rows
from storage_controller.database.tables import executions, filters, leases, projects, slos, views
from zoe_lib.clock import SYSTEM_CLOCK, Clock

READ, WRITE = "get_bw", "put_bw"
_GIVING = 0x5A6F654C  # lock of requests that create credentials (shared), and of the list of all credentials
_SEQUENCE = sa.func.pg_get_serial_sequence(executions.fullname, executions.c.generation.name)
_LAST_GENERATION = sa.select(sa.func.pg_sequence_last_value(sa.cast(_SEQUENCE, REGCLASS)))
Check = Callable[[sa.Connection], None]


class _Present(threading.local):
    """The transaction that the calls of this thread share at present."""

    connection: sa.Connection | None = None
    swept: bool = False


class Ledger:
    """SLOs, executions, views and filters. Objects of an owner with an expired lease no longer exist.

    `check` aborts a transaction that this controller must not make because another one leads.
    """

    def __init__(self, engine: sa.Engine, clock: Clock = SYSTEM_CLOCK, check: Check = lambda _: None) -> None:
        self._engine = engine
        self._clock = clock
        self._check = check
        self._present = _Present()

    @contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        """Yield the connection of a transaction, or that of `together`."""
        if self._present.connection is not None:
            yield self._present.connection
            return
        with self._engine.begin() as connection:
            self._check(connection)
            yield connection

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run all calls of this thread in one transaction, including calls of ledgers built from this one: a loop that
        runs four times a second checks the lead and sweeps once. Nested calls join the outer transaction.
        """
        if self._present.connection is not None:
            yield
            return
        with self.begin() as connection:
            self._present.connection, self._present.swept = connection, False
            try:
                yield
            finally:
                self._present.connection = None

    # SLOs

    def slos(self) -> list[dict[str, Any]]:
        """Return all rows, by project, policy and name."""
        with self.begin() as connection:
            self._sweep(connection)
            found = connection.execute(sa.select(slos).order_by(slos.c.project_id, slos.c.policy_id, slos.c.slo_name))
            return [dict(row) for row in found.mappings()]

    def set_slo(self, project: str, policy: str, rates: Mapping[str, int | None], owner: str | None = None) -> None:
        """Set the rates of the project under the policy; None or a missing rate clears it."""
        with self.begin() as connection:
            self._sweep(connection)
            set_rates(connection, project, policy, rates, owner)

    def set_one(self, project: str, policy: str, name: str, rate: int) -> bool:
        """Set one rate and keep the others; return whether it is new."""
        row = {"project_id": project, "policy_id": policy, "slo_name": name, "bytes_per_s": rate, "owner": None}
        with self.begin() as connection:
            key = sa.and_(slos.c.project_id == project, slos.c.policy_id == policy, slos.c.slo_name == name)
            new = connection.execute(sa.select(sa.literal(1)).where(key)).first() is None
            upsert = insert(slos).values(row)
            connection.execute(
                upsert.on_conflict_do_update(index_elements=list(slos.primary_key), set_={"bytes_per_s": rate})
            )
            return new

    def clear_slo(self, project: str, policy: str, name: str | None = None) -> None:
        """Remove one rate, or all of a policy, if they exist."""
        wanted = sa.and_(slos.c.project_id == project, slos.c.policy_id == policy)
        if name is not None:
            wanted = sa.and_(wanted, slos.c.slo_name == name)
        with self.begin() as connection:
            connection.execute(sa.delete(slos).where(wanted))

    def guarantees_by_tenant(self) -> dict[str, BandwidthSlo]:
        """Return the guarantee of each tenant: the greatest of its policies, since that covers the smaller ones, or the
        sum of its executions' guarantees, if that is more.
        """
        found: dict[str, dict[str, int]] = {}
        for tenant, sums in self._guarantee_sums().items():
            found[tenant] = dict(sums)
        for row in self.slos():
            rates = found.setdefault(row["project_id"], {})
            rates[row["slo_name"]] = max(rates.get(row["slo_name"], 0), row["bytes_per_s"])
        return {tenant: BandwidthSlo(rates.get(READ), rates.get(WRITE)) for tenant, rates in found.items()}

    # Executions

    def executions(self) -> list[StoreExecution]:
        """Return the executions of all owners with a credential, by id."""
        with self.begin() as connection:
            self._sweep(connection)
            return [_execution(row) for row in connection.execute(sa.select(executions).order_by(executions.c.id))]

    def active_executions(self) -> tuple[list[StoreExecution], int]:
        """Return the executions with a credential, and the generation of the last credential ever created.

        A credential that is neither among them nor newer has ended: no credential is created meanwhile.
        """
        with self.begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_GIVING)))
            self._sweep(connection)
            found = [_execution(row) for row in connection.execute(sa.select(executions).order_by(executions.c.id))]
            return found, connection.execute(_LAST_GENERATION).scalar_one() or 0

    def keep_execution(self, wanted: StoreExecution) -> StoreExecution | None:
        """Store an execution, or its new guarantee; return the stored one, with its generation. None if it exists with
        another owner or tenant.
        """
        rates = {"get_bw": wanted.slo.read_bytes_per_s, "put_bw": wanted.slo.write_bytes_per_s}
        row = {"id": wanted.id, "tenant": wanted.tenant, "owner": wanted.owner, **rates}
        same = sa.and_(executions.c.tenant == wanted.tenant, executions.c.owner == wanted.owner)
        upsert = insert(executions).values(row).on_conflict_do_update(index_elements=["id"], set_=rates, where=same)
        with self.begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock_shared(_GIVING)))
            found = connection.execute(upsert.returning(executions)).first()
            if found is None:
                return None
            kept = _execution(found)
            transfer_rows.begin(connection, kept)
            return kept

    def drop_execution(self, owner: str, execution_id: str) -> None:
        """Remove an ended execution, if it exists."""
        its = sa.and_(executions.c.id == execution_id, executions.c.owner == owner)
        with self.begin() as connection:
            dropped = connection.execute(sa.delete(executions).where(its).returning(executions.c.generation)).scalars()
            transfer_rows.end(connection, list(dropped), self._clock.now_s())

    # Transfers of executions

    def add_transfers(
        self,
        heard: Collection[transfer_rows.HeardCount],
        window_us: float,
        answered: Collection[str],
        patience_s: float,
        kept_s: float,
        uses: Collection[use_rows.HeardUse] = (),
    ) -> Mapping[str, tuple[int, float]]:
        """Store counters; settle counters that all proxies answered, or that ended more than `patience_s` ago; delete
        old settled ones. Return the unsettled ones.
        """
        now_s = self._clock.now_s()
        with self.begin() as connection:
            if heard:
                use_rows.add_spans(connection, transfer_rows.add(connection, heard, window_us), now_s)
            use_rows.add_uses(connection, uses, now_s)
            open_ = transfer_rows.unsettled_counters(connection)
            for name, (generation, ended_s) in open_.items():
                if name in answered or ended_s < now_s - patience_s:
                    transfer_rows.settle(connection, generation, now_s, whole=name in answered)
            transfer_rows.sweep(connection, now_s - kept_s)
            return transfer_rows.unsettled_counters(connection)

    def transfers(self, owner: str) -> Mapping[str, TransferTotals]:
        """Return the transfers so far of executions with a credential, without idle ones."""
        with self.begin() as connection:
            return transfer_rows.current_transfers(connection, owner)

    def ended_transfers(self, owner: str) -> list[EndedTransfers]:
        """Return the transfers with ended credentials, until they are forgotten; 200 at most."""
        with self.begin() as connection:
            return transfer_rows.settled_transfers(connection, owner)

    def forget_transfers(self, owner: str, generation: int) -> None:
        """Delete the transfers of an ended credential, if there are any."""
        with self.begin() as connection:
            transfer_rows.forget(connection, owner, generation)

    def sweep_uses(self, kept_s: float) -> None:
        """Delete uses and transfers of executions that are older than `kept_s`."""
        with self.begin() as connection:
            use_rows.sweep_uses(connection, self._clock.now_s() - kept_s)

    def uses_of_execution(self, owner: str, execution_id: str) -> Sequence[Mapping[str, Any]]:
        """Return the requests of an execution and the rules applied to them, by subject."""
        with self.begin() as connection:
            return use_rows.uses_of(connection, owner, execution_id)

    def spans(
        self, owner: str, within: tuple[float, float, float], execution_id: str | None, tenant: str | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the bytes of executions over time. within: from, to and the length of an interval, in seconds."""
        with self.begin() as connection:
            return use_rows.spans_of(connection, owner, within, execution_id, tenant)

    def _guarantee_sums(self) -> dict[str, dict[str, int]]:
        """Return the sums of guarantees, by tenant and name."""
        found: dict[str, dict[str, int]] = {}
        for execution in self.executions():
            for name, rate in ((READ, execution.slo.read_bytes_per_s), (WRITE, execution.slo.write_bytes_per_s)):
                if rate:
                    sums = found.setdefault(execution.tenant, {})
                    sums[name] = sums.get(name, 0) + rate
        return found

    # Views

    def views(self, owner: str) -> list[View]:
        """Return views of an owner with a valid lease, by id."""
        with self.begin() as connection:
            self._sweep(connection)
            leased = sa.and_(views.c.owner == owner, views.c.owner.in_(sa.select(leases.c.owner)))
            return _views(connection, leased)

    def view(self, view_id: str) -> View | None:
        """Return a view of any owner; None if it does not exist."""
        with self.begin() as connection:
            return next(iter(_views(connection, views.c.id == view_id)), None)

    def overdue_views(self) -> list[View]:
        """Return views of owners with an expired lease whose containers still exist."""
        with self.begin() as connection:
            self._sweep(connection)
            return _views(connection, views.c.owner.not_in(sa.select(leases.c.owner)))

    def keep_view(self, view: View, owner: str) -> View:
        """Store a view, unless one with its id exists; return the stored one."""
        row = {
            "id": view.id,
            "tenant": view.tenant,
            "source": view.source,
            "columns": list(view.columns),
            "where": view.where,
            "reading": view.reading(),
            "owner": owner,
        }
        with self.begin() as connection:
            connection.execute(insert(views).values(row).on_conflict_do_nothing())
            return _views(connection, views.c.id == view.id)[0]

    def forget_view(self, view_id: str) -> None:
        """Delete a removed view, if it exists."""
        with self.begin() as connection:
            connection.execute(sa.delete(views).where(views.c.id == view_id))

    # Leases

    def renew(self, owner: str, lease_s: float) -> float:
        """Extend the lease on all of the owner's objects by this many seconds from now; return its end, since the
        epoch.
        """
        until_s = self._clock.now_s() + lease_s
        upsert = insert(leases).values(owner=owner, until_s=until_s)
        with self.begin() as connection:
            self._sweep(connection)
            connection.execute(upsert.on_conflict_do_update(index_elements=["owner"], set_={"until_s": until_s}))
        return until_s

    def _sweep(self, connection: sa.Connection) -> None:
        if self._present.connection is not None:
            if self._present.swept:
                return
            self._present.swept = True
        over = sa.select(leases.c.owner).where(leases.c.until_s < self._clock.now_s())
        connection.execute(sa.delete(slos).where(slos.c.owner.in_(over)))
        # Credentials stay: executions continue while their owner is away.
        ended = sa.update(executions).where(executions.c.owner.in_(over)).values(get_bw=None, put_bw=None)
        connection.execute(ended)
        connection.execute(sa.delete(leases).where(leases.c.until_s < self._clock.now_s()))

    # Projects and filters

    def keep_project(self, project_id: str, name: str) -> None:
        """Enable a project."""
        upsert = insert(projects).values(id=project_id, name=name)
        with self.begin() as connection:
            connection.execute(upsert.on_conflict_do_update(index_elements=["id"], set_={"name": name}))

    def drop_project(self, project_id: str) -> bool:
        """Disable a project; return whether it was enabled."""
        with self.begin() as connection:
            return connection.execute(sa.delete(projects).where(projects.c.id == project_id)).rowcount > 0

    def project_names(self) -> dict[str, str]:
        """Return project names by id."""
        with self.begin() as connection:
            return {row.id: row.name for row in connection.execute(sa.select(projects))}

    def filters(self) -> list[dict[str, Any]]:
        """Return name and attributes of all filters."""
        with self.begin() as connection:
            found = connection.execute(sa.select(filters.c.dsl_name, filters.c.attributes).order_by(filters.c.dsl_name))
            return [{"dsl_name": row.dsl_name, **row.attributes} for row in found]

    def keep_filter(self, dsl_name: str, attributes: Mapping[str, Any]) -> None:
        """Create or change a filter."""
        upsert = insert(filters).values(dsl_name=dsl_name, attributes=dict(attributes))
        with self.begin() as connection:
            connection.execute(
                upsert.on_conflict_do_update(index_elements=["dsl_name"], set_={"attributes": dict(attributes)})
            )

    def keep_filter_data(self, dsl_name: str, data: bytes) -> bool:
        """Store a filter's program; False if the filter does not exist."""
        with self.begin() as connection:
            done = connection.execute(sa.update(filters).where(filters.c.dsl_name == dsl_name).values(data=data))
            return done.rowcount > 0

    def filter_data(self, dsl_name: str) -> bytes | None:
        """Return a filter's program; None without one."""
        with self.begin() as connection:
            found = connection.execute(sa.select(filters.c.data).where(filters.c.dsl_name == dsl_name)).scalar()
            return None if found is None else bytes(found)

    def rename_filter(self, dsl_name: str, new: str) -> None:
        """Give a filter another name, which no other one has."""
        with self.begin() as connection:
            connection.execute(sa.update(filters).where(filters.c.dsl_name == dsl_name).values(dsl_name=new))

    def drop_filter(self, dsl_name: str) -> None:
        """Remove a filter, if it exists."""
        with self.begin() as connection:
            connection.execute(sa.delete(filters).where(filters.c.dsl_name == dsl_name))


def set_rates(
    connection: sa.Connection, project: str, policy: str, rates: Mapping[str, int | None], owner: str | None
) -> None:
    """Set the rates of a project under a policy within a transaction; None clears a rate."""
    is_slo = sa.and_(slos.c.project_id == project, slos.c.policy_id == policy)
    connection.execute(sa.delete(slos).where(is_slo))
    rows = [
        {"project_id": project, "policy_id": policy, "slo_name": name, "bytes_per_s": rate, "owner": owner}
        for name, rate in rates.items()
        if rate is not None
    ]
    if rows:
        new = insert(slos).values(rows)
        # Another request may have set the same at this moment: the later one wins.
        latest = {name: new.excluded[name] for name in ("bytes_per_s", "owner")}
        connection.execute(new.on_conflict_do_update(index_elements=list(slos.primary_key), set_=latest))


def _execution(row: sa.Row[Any]) -> StoreExecution:
    return StoreExecution(row.id, row.tenant, BandwidthSlo(row.get_bw, row.put_bw), row.owner, row.generation)


def _views(connection: sa.Connection, wanted: sa.ColumnElement[bool]) -> list[View]:
    rows = connection.execute(sa.select(views).where(wanted).order_by(views.c.id)).mappings()
    return [
        View(r["id"], r["tenant"], r["source"], tuple(r["columns"]), r["where"], **View.read_as(r["reading"]))
        for r in rows
    ]
