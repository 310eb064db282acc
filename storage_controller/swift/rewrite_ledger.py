"""Jobs that rewrite objects, in PostgreSQL, so that another controller continues where one ended. One runs at a time.
Every call is one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.tables import rewrites
from zoe_lib.clock import SYSTEM_CLOCK, Clock

KEPT_MAX = 50
"""Most listed jobs; older ones are deleted."""
SENTENCE_MAX = 500
_LOCK = 0x5A6F6557  # lock of requests that begin a job
_RUNS = rewrites.c.ended_s.is_(None)


@dataclass(frozen=True, slots=True)
class RewriteJob:
    """Objects to rewrite. container: empty for all of the tenant's. plain: to the original bytes, without filters."""

    tenant: str
    container: str
    plain: bool
    dry_run: bool
    bytes_per_s: int


@dataclass(frozen=True, slots=True)
class Running:
    """A running job with its progress: all objects up to this one are done."""

    id: int
    job: RewriteJob
    at_container: str
    at_object: str
    expected: int


@dataclass(slots=True)
class Counts:
    """Results since the last call. failed: objects that stay unchanged. bytes: of the originals."""

    looked: int = 0
    changed: int = 0
    kept: int = 0
    failed: int = 0
    bytes: int = 0
    changed_bytes: int = 0


class RewriteLedger:
    """The jobs."""

    def __init__(self, ledger: Ledger, clock: Clock = SYSTEM_CLOCK) -> None:
        self._begin = ledger.begin
        self._clock = clock

    def jobs(self) -> list[Mapping[str, Any]]:
        """Return the last jobs, the newest first."""
        with self._begin() as connection:
            found = connection.execute(sa.select(rewrites).order_by(rewrites.c.id.desc()).limit(KEPT_MAX))
            return [dict(row) for row in found.mappings()]

    def begin(self, job: RewriteJob, author: str | None) -> Mapping[str, Any]:
        """Begin a job. Raises RequestRefusedError with 409 while another one runs."""
        with self._begin() as connection:
            _refuse_second_job(connection)
            values = {
                "tenant": job.tenant,
                "container": job.container,
                "plain": job.plain,
                "dry_run": job.dry_run,
                "bytes_per_s": job.bytes_per_s,
                "author": author,
                "created_s": self._clock.now_s(),
            }
            row = connection.execute(sa.insert(rewrites).values(values).returning(rewrites)).mappings().one()
            connection.execute(sa.delete(rewrites).where(rewrites.c.id <= row["id"] - KEPT_MAX))
            return dict(row)

    def resume(self, number: int) -> Mapping[str, Any] | None:
        """Resume a job that was cancelled or gave up, where it ended; return it, or None if it does not exist. Raises
        Refused with 409 while another one runs.
        """
        ended = sa.and_(rewrites.c.id == number, sa.not_(_RUNS), sa.or_(rewrites.c.cancelled, rewrites.c.waits != ""))
        again = {"ended_s": None, "cancelled": False, "waits": "", "waits_since_s": None}
        with self._begin() as connection:
            if connection.execute(sa.select(rewrites.c.id).where(ended)).first() is None:
                return None
            _refuse_second_job(connection)
            row = connection.execute(sa.update(rewrites).where(ended).values(again).returning(rewrites)).mappings()
            found = row.first()
            return None if found is None else dict(found)

    def give_up(self, number: int, patience_s: float) -> bool:
        """End a job that has waited for so long; return whether it ended. Its `waits` gives the reason."""
        late = sa.and_(rewrites.c.id == number, _RUNS, rewrites.c.waits_since_s <= self._clock.now_s() - patience_s)
        with self._begin() as connection:
            return bool(
                connection.execute(sa.update(rewrites).where(late).values(ended_s=self._clock.now_s())).rowcount
            )

    def cancel(self, number: int) -> bool:
        """Cancel a job; return whether it ran. Rewritten objects stay."""
        wanted = sa.and_(rewrites.c.id == number, _RUNS)
        with self._begin() as connection:
            ended = sa.update(rewrites).where(wanted).values(ended_s=self._clock.now_s(), cancelled=True)
            return bool(connection.execute(ended).rowcount)

    def running(self) -> Running | None:
        """Return the running job."""
        with self._begin() as connection:
            row = connection.execute(sa.select(rewrites).where(_RUNS).order_by(rewrites.c.id)).first()
        if row is None:
            return None
        job = RewriteJob(row.tenant, row.container, row.plain, row.dry_run, row.bytes_per_s)
        return Running(row.id, job, row.at_container, row.at_object, row.expected)

    def expect(self, number: int, objects: int) -> None:
        """Record the number of objects."""
        with self._begin() as connection:
            connection.execute(sa.update(rewrites).where(rewrites.c.id == number).values(expected=objects))

    def note(
        self, number: int, container: str, name: str, counts: Counts, waits: str = "", sentence: str | None = None
    ) -> bool:
        """Record the results up to an object; return whether the job still runs. waits: the reason, if it waits.
        sentence: the last failure of an object; None to keep the recorded one.
        """
        added = {field: rewrites.c[field] + getattr(counts, field) for field in Counts.__dataclass_fields__}
        values: dict[str, Any] = {**added, "at_container": container, "at_object": name, "waits": waits[:SENTENCE_MAX]}
        values["waits_since_s"] = sa.func.coalesce(rewrites.c.waits_since_s, self._clock.now_s()) if waits else None
        if sentence is not None:
            values["sentence"] = sentence[:SENTENCE_MAX]
        with self._begin() as connection:
            connection.execute(sa.update(rewrites).where(rewrites.c.id == number).values(values))
            return connection.execute(sa.select(_RUNS).where(rewrites.c.id == number)).scalar() or False

    def end(self, number: int) -> None:
        """Record that the job is complete."""
        wanted = sa.and_(rewrites.c.id == number, _RUNS)
        with self._begin() as connection:
            connection.execute(sa.update(rewrites).where(wanted).values(ended_s=self._clock.now_s()))


def _refuse_second_job(connection: sa.Connection) -> None:
    """Refuse while a job runs; no other request begins one before the transaction ends."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    if (other := connection.execute(sa.select(rewrites.c.id).where(_RUNS)).scalar()) is not None:
        raise RequestRefusedError(
            409, f"job {other} is running, and only one runs at a time: wait for it, or cancel it"
        )
