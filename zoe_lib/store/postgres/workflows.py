"""Workflows in the database, for the API."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.store.documents.text import storable
from zoe_lib.store.errors import NotFound
from zoe_lib.store.sql.batch import workflows as rows
from zoe_lib.store.sql.connection.database import Database, read_method
from zoe_lib.store.workflow_values import StoredWorkflow, WorkflowQuery


class WorkflowStore:
    """Reads workflows. `PostgresStore.submit_all` stores their executions, with `rows.add` or `rows.add_run` in the
    same transaction.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def workflow(self, workflow_id: str, visibility: Visibility) -> StoredWorkflow:
        """Return a workflow with the steps of its present run whose executions are visible; NotFound if there are
        none.
        """
        unknown = NotFound(f"workflow {workflow_id} does not exist")
        if not storable(workflow_id, visibility.tenant, visibility.user):
            raise unknown
        found = self.database.read(lambda c: rows.read_workflow(c, workflow_id, visibility))
        if found is None:
            raise unknown
        return found

    def page(self, query: WorkflowQuery) -> Sequence[StoredWorkflow]:
        """Return visible workflows, newest first."""
        if not storable(query.visibility.tenant, query.visibility.user):
            return ()
        return self.database.read(lambda c: rows.page(c, query))

    of_execution = read_method(rows.of_execution)
