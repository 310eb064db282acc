"""Jobs that call the API: their identity, their submissions and descendants, and the stopped ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, delete, select, text
from sqlalchemy.dialects.postgresql import insert

from zoe_client.vocabulary import Cause, ExecutionState
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.executions.arrays import member_of
from zoe_lib.store.documents.text import storable
from zoe_lib.store.errors import StoreError
from zoe_lib.store.people import JobIdentity, Principal
from zoe_lib.store.sql.connection.prepared import Prepared
from zoe_lib.store.tables.jobs import job_submissions, stopped_jobs

FAMILY_MAX = 2000
"""Maximum descendants in a list for a job."""
_MINUTE_S = 60.0
_LOCK = 0x5A6F65_60
_SCOPES = frozenset({Scope.READ.value, Scope.SUBMIT.value})
_WITH_SERVICES = frozenset({ExecutionState.STARTING, ExecutionState.RUNNING, ExecutionState.STOPPING})
_HOLDER = Prepared(
    "zoe_job_holder",
    {"id": "text"},
    """
    SELECT executions.tenant, executions.user_name, executions.attempt, executions.state, executions.cause,
           memberships.role
    FROM executions
    JOIN memberships ON memberships.user_name = executions.user_name AND memberships.tenant = executions.tenant
    JOIN users ON users.name = executions.user_name AND NOT users.disabled
    WHERE executions.id = :id
    """,
)
_ALIVE = """
    (EXISTS (SELECT FROM executions WHERE id = {id} AND state NOT IN ('succeeded', 'failed', 'cancelled'))
     OR EXISTS (SELECT FROM arrays WHERE id = {id} AND ended_at_s IS NULL))
"""
_FIRST_ALIVE = text(f"NOT {_ALIVE.format(id='child_id')}")
_ONE_BY_ONE = text(f"SELECT pg_advisory_xact_lock({_LOCK}, hashtext(:root))")
_LIVING = text(f"SELECT one FROM unnest(CAST(:ids AS text[])) AS one WHERE {_ALIVE.format(id='one')}")  # noqa: S608
# A row without a submission belongs to one in progress, or to a refused one.
_COUNTS = text(f"""
    SELECT count(*) FILTER (WHERE at_s > :now_s - {_MINUTE_S}) AS lately,
           count(*) FILTER (WHERE {_ALIVE.format(id="child_id")} OR (
               at_s > :now_s - {_MINUTE_S} AND NOT EXISTS (SELECT FROM executions WHERE id = child_id)
               AND NOT EXISTS (SELECT FROM arrays WHERE id = child_id)
           )) AS alive,
           min(at_s) FILTER (WHERE at_s > :now_s - {_MINUTE_S}) AS first_s
    FROM job_submissions WHERE root = :root
""")  # noqa: S608 - made of constants
_MISSING = "NOT EXISTS (SELECT FROM executions WHERE id = {id}) AND NOT EXISTS (SELECT FROM arrays WHERE id = {id})"
_PRUNE = [
    text(f"DELETE FROM {table} WHERE at_s < :before_s AND {_MISSING.format(id=column)}")  # noqa: S608 - constants
    for table, column in (
        ("job_submissions", "child_id"),
        ("stopped_jobs", "unit"),
        ("opened_executions", "execution_id"),
    )
]
# LATERAL with OFFSET: one index lookup for each, however long the chain.
_BELOW = text(f"""
    WITH RECURSIVE below(id) AS (
        SELECT CAST(:unit AS text)
        UNION
        SELECT one.child_id FROM below, LATERAL (
            SELECT child_id FROM job_submissions WHERE split_part(parent_id, '_', 1) = below.id OFFSET 0
        ) AS one
    )
    SELECT id FROM below WHERE {_ALIVE.format(id="below.id")} OR ({_MISSING.format(id="below.id")})
""")  # noqa: S608 - made of constants


@dataclass(frozen=True, slots=True)
class JobBounds:
    """Limits of a job and its descendants: unfinished generations, unfinished descendants of the first job, and
    submissions of all of them in a minute.
    """

    depth_max: int
    descendants_max: int
    per_minute_max: int


class JobTooDeep(StoreError):  # noqa: N818 - the name is the fact
    """Too many ancestors of the job have not ended."""


class JobStopped(StoreError):  # noqa: N818 - the name is the fact
    """The job was cancelled with its descendants."""


class TooManyDescendants(StoreError):  # noqa: N818 - the name is the fact
    """Too many descendants of the job's first ancestor have not ended."""


class JobSubmitsTooOften(StoreError):  # noqa: N818 - the name is the fact
    """The family has made the maximum of submissions in a minute; `retry_after_s`: seconds until there is room
    again.
    """

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class ParentJob:
    """The job that submitted an execution or array."""

    execution_id: str
    attempt: int


def unit_of(execution_id: str) -> str:
    """Return the array of an index, and the id itself of other executions."""
    member = member_of(execution_id)
    return execution_id if member is None else member.array_id


def holder(connection: Connection, execution_id: str, attempt: int, tenant: str, user: str) -> Principal | None:
    """Return the principal of a job's token; None once the attempt has ended, or its owner may submit no more."""
    if not storable(execution_id, tenant, user):
        return None
    for row in _HOLDER.rows(connection, id=execution_id):
        state = ExecutionState(row.state)
        if (row.tenant, row.user_name, row.attempt) != (tenant, user, attempt) or state not in _WITH_SERVICES:
            return None
        who = Principal.of_member(row.user_name, row.tenant, row.role, _SCOPES)
        cancelled = state is ExecutionState.STOPPING and row.cause == Cause.CANCELLED
        job = JobIdentity(execution_id, attempt, unit_of(execution_id), cancelled)
        return replace(who, job=job) if Scope.SUBMIT in who.scopes else None
    return None


def note(connection: Connection, child_id: str, job: JobIdentity, bounds: JobBounds, now_s: float) -> None:
    """Record a submission of a job before it is made; JobStopped, JobTooDeep, TooManyDescendants,
    JobSubmitsTooOften.
    """
    row = connection.execute(select(job_submissions).where(job_submissions.c.child_id == job.unit)).one_or_none()
    root = job.unit if row is None else row.root
    # Submissions of a family are counted one after the other.
    connection.execute(_ONE_BY_ONE, {"root": root})
    if is_stopped(connection, job.unit):
        raise JobStopped(f"job {job.execution_id} was cancelled with its descendants")
    earlier = [] if row is None else list(row.ancestors)
    living = set(connection.execute(_LIVING, {"ids": earlier}).scalars())
    ancestors = [*(entry for entry in earlier if entry in living), job.unit]
    if len(ancestors) > bounds.depth_max:
        raise JobTooDeep(
            f"{len(ancestors)} jobs that submitted each other have not ended; the maximum is {bounds.depth_max}"
        )
    counts = connection.execute(_COUNTS, {"root": root, "now_s": now_s}).one()
    if counts.lately >= bounds.per_minute_max:
        wait_s = counts.first_s + _MINUTE_S - now_s
        raise JobSubmitsTooOften(f"job {root} and its descendants have submitted {counts.lately} in a minute", wait_s)
    if counts.alive >= bounds.descendants_max:
        raise TooManyDescendants(f"{counts.alive} descendants of job {root} have not ended")
    values = {"parent_id": job.execution_id, "parent_attempt": job.attempt, "root": root, "at_s": now_s}
    connection.execute(insert(job_submissions).values(child_id=child_id, ancestors=ancestors, **values))


def stop(connection: Connection, unit: str, now_s: float) -> frozenset[str]:
    """Stop further submissions of an execution or array and all its descendants; return those of them that have not
    ended, or are being made.
    """
    row = connection.execute(select(job_submissions.c.root).where(job_submissions.c.child_id == unit)).one_or_none()
    connection.execute(_ONE_BY_ONE, {"root": unit if row is None else row.root})
    found = frozenset(connection.execute(_BELOW, {"unit": unit}).scalars())
    if found:
        rows = [{"unit": entry, "at_s": now_s} for entry in found]
        connection.execute(insert(stopped_jobs).on_conflict_do_nothing(), rows)
    return found


def is_stopped(connection: Connection, unit: str) -> bool:
    """Return whether an execution or array was cancelled with its descendants."""
    return connection.execute(select(stopped_jobs).where(stopped_jobs.c.unit == unit)).one_or_none() is not None


def resume(connection: Connection, unit: str) -> None:
    """Allow an array with rerun indices to submit again."""
    connection.execute(delete(stopped_jobs).where(stopped_jobs.c.unit == unit))


def is_family(connection: Connection, unit: str, target: str) -> bool:
    """Return whether an execution or array is the job's own unit, or a descendant of it."""
    return bool(family_among(connection, unit, [target]))


def family_among(connection: Connection, unit: str, targets: Collection[str]) -> frozenset[str]:
    """Return which of these executions and arrays belong to the job's family."""
    units = {target: unit_of(target) for target in targets if storable(target)}
    here = (job_submissions.c.child_id.in_(set(units.values())), job_submissions.c.ancestors.contains([unit]))
    found = {unit, *connection.execute(select(job_submissions.c.child_id).where(*here)).scalars()}
    return frozenset(text for text, wanted in units.items() if wanted in found)


def family(connection: Connection, unit: str) -> frozenset[str]:
    """Return the job's own unit and its descendants, first the unfinished ones, then the newest (`FAMILY_MAX`):
    executions and arrays.
    """
    below = select(job_submissions.c.child_id).where(job_submissions.c.ancestors.contains([unit]))
    found = connection.execute(below.order_by(_FIRST_ALIVE, job_submissions.c.at_s.desc()).limit(FAMILY_MAX))
    return frozenset({unit, *found.scalars()})


def parents(connection: Connection, ids: Collection[str]) -> Mapping[str, ParentJob]:
    """Return the jobs that submitted these executions or arrays; those without one are missing."""
    units = {id_: unit_of(id_) for id_ in ids if storable(id_)}
    wanted = select(job_submissions).where(job_submissions.c.child_id.in_(set(units.values())))
    found = {row.child_id: ParentJob(row.parent_id, row.parent_attempt) for row in connection.execute(wanted)}
    return {text: found[unit] for text, unit in units.items() if unit in found}


def children(connection: Connection, execution_id: str, limit: int) -> Sequence[str]:
    """Return the submissions of an execution, newest first."""
    if not storable(execution_id):
        return ()
    ordered = select(job_submissions.c.child_id).where(job_submissions.c.parent_id == execution_id)
    return list(connection.execute(ordered.order_by(job_submissions.c.at_s.desc()).limit(limit)).scalars())


def prune(connection: Connection, before_s: float) -> None:
    """Remove rows of executions and arrays that have been removed, or were never made."""
    for statement in _PRUNE:
        connection.execute(statement, {"before_s": before_s})
