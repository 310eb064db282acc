"""Read and write workflows. A workflow is visible to users who can see one of its executions, with these executions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, FromClause, Row, and_, delete, exists, func, insert, literal, select, tuple_, update

from zoe_client.vocabulary import TERMINAL_STATES, Cause, ExecutionState
from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.executions.arrays import is_array
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.store.documents.text import storable
from zoe_lib.store.errors import ConcurrentUpdate
from zoe_lib.store.sql.batch import workflow_arrays
from zoe_lib.store.sql.executions.executions import visible
from zoe_lib.store.tables.executions import executions
from zoe_lib.store.tables.workflows import workflow_arrays as arrays_of_workflows
from zoe_lib.store.tables.workflows import workflow_steps, workflows
from zoe_lib.store.workflow_values import NewStep, NewWorkflow, StoredStep, StoredWorkflow, WorkflowQuery

_REMOVED_AT_ONCE = 500


def add(connection: Connection, workflow: NewWorkflow, steps: Sequence[NewStep]) -> None:
    """Write a workflow in the transaction of its executions."""
    values = {
        "id": workflow.id,
        "name": workflow.name,
        "tenant": workflow.tenant,
        "user_name": workflow.user,
        "document": dict(workflow.document),
        "parameters": dict(workflow.parameters),
        "run": 1,
        "submitted_at_s": workflow.submitted_at_s,
    }
    connection.execute(insert(workflows).values(values))
    _add_steps(connection, workflow.id, 1, steps)


def add_run(connection: Connection, workflow_id: str, run: int, steps: Sequence[NewStep]) -> None:
    """Write another run in the transaction of its executions; ConcurrentUpdate if another request was faster."""
    one_more = update(workflows).where(workflows.c.id == workflow_id, workflows.c.run == run - 1).values(run=run)
    if connection.execute(one_more).rowcount != 1:
        raise ConcurrentUpdate("the workflow was resumed by another request")
    _add_steps(connection, workflow_id, run, steps)


def _add_steps(connection: Connection, workflow_id: str, run: int, steps: Sequence[NewStep]) -> None:
    rows: list[dict[str, Any]] = [
        {
            "execution_id": step.execution_id,
            "workflow_id": workflow_id,
            "run": run,
            "position": step.position,
            "name": step.name,
            "facts": dict(step.facts),
        }
        for step in steps
    ]
    mapped = [{**row, "array_id": row["execution_id"]} for row in rows if is_array(row["execution_id"])]
    for row in mapped:
        del row["execution_id"]
    if mapped:
        workflow_arrays.add(connection, mapped)
    if plain := [row for row in rows if not is_array(row["execution_id"])]:
        connection.execute(insert(workflow_steps), plain)


def read(connection: Connection, ids: Collection[str], visibility: Visibility) -> Sequence[StoredWorkflow]:
    """Return these workflows with the newest visible execution of each step; workflows without any are missing."""
    steps = _steps(connection, ids, visibility)
    open_steps = {} if visibility == ALL else _open_steps(connection, list(steps))
    found = connection.execute(select(workflows).where(workflows.c.id.in_(list(steps))))
    made = {row.id: _workflow(row, steps[row.id], open_steps.get(row.id, frozenset())) for row in found}
    return [made[id_] for id_ in ids if id_ in made]


def read_workflow(connection: Connection, workflow_id: str, visibility: Visibility) -> StoredWorkflow | None:
    """Return a workflow as `read` does, with the failed entries in the messages of its steps."""
    for found in read(connection, [workflow_id], visibility):
        return replace(found, steps=workflow_arrays.naming_failures(connection, found.steps))
    return None


def page(connection: Connection, query: WorkflowQuery) -> Sequence[StoredWorkflow]:
    """Return visible workflows, newest first."""
    newest = (workflows.c.submitted_at_s, workflows.c.id)
    joined = workflow_steps.join(executions, executions.c.id == workflow_steps.c.execution_id)
    seen = exists(
        select(literal(1))
        .select_from(joined)
        .where(workflow_steps.c.workflow_id == workflows.c.id, *visible(query.visibility))
    )
    wanted = select(workflows.c.id).where(seen).order_by(*(column.desc() for column in newest)).limit(query.limit)
    if query.visibility.tenant is not None:
        wanted = wanted.where(workflows.c.tenant == query.visibility.tenant)
    if query.before is not None:
        wanted = wanted.where(tuple_(*newest) < tuple_(*map(literal, query.before)))
    return read(connection, list(connection.execute(wanted).scalars()), query.visibility)


def of_execution(connection: Connection, execution_id: ExecutionId) -> str | None:
    """Return the workflow of an execution; None if it has none."""
    if not storable(execution_id):
        return None
    found = select(workflow_steps.c.workflow_id).where(workflow_steps.c.execution_id == execution_id)
    name: str | None = connection.execute(found).scalar_one_or_none()
    return name or workflow_arrays.workflow_of(connection, execution_id)


def transfer_to(connection: Connection, execution_id: ExecutionId, owner: str) -> None:
    """Transfer a workflow to the new owner, with its first execution that is handed over."""
    its = select(workflow_steps.c.workflow_id).where(workflow_steps.c.execution_id == execution_id)
    connection.execute(update(workflows).where(workflows.c.id.in_(its)).values(user_name=owner))


def remove_empty(connection: Connection) -> None:
    """Remove some workflows without remaining executions."""
    kept = [
        exists(select(literal(1)).where(table.c.workflow_id == workflows.c.id))
        for table in (workflow_steps, arrays_of_workflows)
    ]
    empty = select(workflows.c.id).where(*(~exists for exists in kept)).limit(_REMOVED_AT_ONCE)
    connection.execute(delete(workflows).where(workflows.c.id.in_(empty)))


_COLUMNS = (
    *(executions.c.user_name, executions.c.state, executions.c.cause, executions.c.message),
    *(executions.c.exit_code, executions.c.started_at_s, executions.c.ended_at_s),
)


def _newest(ids: Collection[str]) -> FromClause:
    """Return the newest execution of each step of these workflows."""
    step = (workflow_steps.c.workflow_id, workflow_steps.c.position)
    newest = (
        select(*step, func.max(workflow_steps.c.run).label("run"))
        .where(workflow_steps.c.workflow_id.in_(list(ids)))
        .group_by(*step)
        .subquery()
    )
    same = (column == newest.c[column.name] for column in (*step, workflow_steps.c.run))
    return workflow_steps.join(newest, and_(*same)).join(executions, executions.c.id == workflow_steps.c.execution_id)


def _steps(connection: Connection, ids: Collection[str], visibility: Visibility) -> Mapping[str, list[StoredStep]]:
    if not ids:
        return {}
    wanted = (
        select(workflow_steps, *_COLUMNS)
        .select_from(_newest(ids))
        .where(*visible(visibility))
        .order_by(workflow_steps.c.position)
    )
    found: defaultdict[str, list[StoredStep]] = defaultdict(list)
    for row in connection.execute(wanted):
        found[row.workflow_id].append(_step(row))
    for workflow_id, steps in workflow_arrays.steps_of(connection, ids, visibility).items():
        found[workflow_id] = sorted([*found[workflow_id], *steps], key=lambda step: step.position)
    return found


def _open_steps(connection: Connection, ids: Collection[str]) -> Mapping[str, set[ExecutionId]]:
    """Return the executions of unfinished steps, for any user."""
    if not ids:
        return {}
    is_open = executions.c.state.not_in([state.value for state in TERMINAL_STATES])
    wanted = (
        select(workflow_steps.c.workflow_id, workflow_steps.c.execution_id).select_from(_newest(ids)).where(is_open)
    )
    found: defaultdict[str, set[ExecutionId]] = defaultdict(set)
    for row in connection.execute(wanted):
        found[row.workflow_id].add(row.execution_id)
    for workflow_id, open_arrays in workflow_arrays.open_steps(connection, ids).items():
        found[workflow_id] |= open_arrays
    return found


def _step(row: Row[Any]) -> StoredStep:
    return StoredStep(
        execution_id=row.execution_id,
        run=row.run,
        position=row.position,
        name=row.name,
        facts=row.facts,
        user=row.user_name,
        state=ExecutionState(row.state),
        cause=None if row.cause is None else Cause(row.cause),
        message=row.message,
        exit_code=row.exit_code,
        started_at_s=row.started_at_s,
        ended_at_s=row.ended_at_s,
    )


def _workflow(row: Row[Any], steps: list[StoredStep], open_steps: Collection[ExecutionId]) -> StoredWorkflow:
    return StoredWorkflow(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        user=row.user_name,
        document=row.document,
        parameters=row.parameters,
        run=row.run,
        submitted_at_s=row.submitted_at_s,
        steps=tuple(steps),
        hidden_open=not {step.execution_id for step in steps}.issuperset(open_steps),
    )
