"""Tables of workflows: their documents, and the executions of their steps."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from zoe_lib.store.tables.metadata import metadata

workflows = Table(
    "workflows",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("user_name", Text, nullable=False),
    Column("document", JSONB, nullable=False),
    Column("parameters", JSONB, nullable=False),
    Column("run", Integer, nullable=False),  # 1, plus one for each resume
    Column("submitted_at_s", Double, nullable=False),
)
Index("ix_workflows_newest", workflows.c.tenant, workflows.c.submitted_at_s, workflows.c.id)

# Executions of earlier runs stay, for a step that was run again.
workflow_steps = Table(
    "workflow_steps",
    metadata,
    Column("execution_id", Text, ForeignKey("executions.id", ondelete="CASCADE"), primary_key=True),
    Column("workflow_id", Text, ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False),
    Column("run", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("facts", JSONB, nullable=False),  # the step in the document
    Index("ix_workflow_steps_workflow", "workflow_id", "position", "run"),
)

# Steps that run for each entry of a list: an array instead of an execution. `run`: the run with its results.
workflow_arrays = Table(
    "workflow_arrays",
    metadata,
    Column("array_id", Text, ForeignKey("arrays.id", ondelete="CASCADE"), primary_key=True),
    Column("workflow_id", Text, ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False),
    Column("run", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("facts", JSONB, nullable=False),
    Index("ix_workflow_arrays_workflow", "workflow_id", "position", "run"),
)
