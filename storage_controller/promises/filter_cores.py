"""Cores for filters and views of tenants at each proxy, from the settings and from admins.

A value that an admin sets for a tenant, or for all others by `*`, replaces the setting until it is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.tables import filter_cores
from zoe_lib.clock import SYSTEM_CLOCK, Clock

OTHERS = "*"
"""Stands for all tenants without an entry."""
_TENANTS_MAX = 500  # proxies keep a pace for each, of 2,045


@dataclass(frozen=True, slots=True)
class CpuBounds:
    """Cores for filters and views of a tenant at each proxy. others: of all other tenants; None: no bound."""

    of_tenants: Mapping[str, float] = field(default_factory=dict)
    others: float | None = None

    def replaced_by(self, cores: Mapping[str, float]) -> CpuBounds:
        """Return the bounds in force with these values of an admin."""
        named = {tenant: value for tenant, value in cores.items() if tenant != OTHERS}
        return replace(self, of_tenants={**self.of_tenants, **named}, others=cores.get(OTHERS, self.others))

    def rows(self) -> Iterator[tuple[str, float]]:
        """Yield each bound with its tenant."""
        yield from sorted(self.of_tenants.items())
        if self.others is not None:
            yield OTHERS, self.others


class CoresLedger:
    """Values of admins, in PostgreSQL."""

    def __init__(self, ledger: Ledger, clock: Clock = SYSTEM_CLOCK) -> None:
        self._begin = ledger.begin
        self._clock = clock

    def rows(self) -> list[sa.Row[Any]]:
        """Return the values, by tenant: `tenant`, `cores`, `author`, `at_s`."""
        with self._begin() as connection:
            return list(connection.execute(sa.select(filter_cores).order_by(filter_cores.c.tenant)))

    def cores(self) -> Mapping[str, float]:
        """Return cores by tenant."""
        return {row.tenant: row.cores for row in self.rows()}

    def put(self, tenant: str, cores: float, author: str | None) -> None:
        """Set the cores of a tenant. Raises RequestRefusedError beyond 500 tenants."""
        row = {"cores": cores, "author": author, "at_s": self._clock.now_s()}
        upsert = insert(filter_cores).values(tenant=tenant, **row)
        with self._begin() as connection:
            connection.execute(upsert.on_conflict_do_update(index_elements=["tenant"], set_=row))
            count = connection.execute(sa.select(sa.func.count()).select_from(filter_cores)).scalar_one()
            if count > _TENANTS_MAX:
                raise RequestRefusedError(
                    409, f"cores are set for {_TENANTS_MAX} tenants, which is the maximum; remove one first"
                )

    def drop(self, tenant: str) -> bool:
        """Remove the value for a tenant; return whether there was one."""
        with self._begin() as connection:
            done = connection.execute(sa.delete(filter_cores).where(filter_cores.c.tenant == tenant))
            return bool(done.rowcount)
