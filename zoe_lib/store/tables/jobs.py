"""Tables of jobs: submissions with their tokens, and stopped jobs."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from zoe_lib.store.tables.metadata import metadata

# `child_id` and the ids in `ancestors` are those of executions, or of arrays for their indices. A row is written before
# its submission, which may then be refused.
job_submissions = Table(
    "job_submissions",
    metadata,
    Column("child_id", Text, primary_key=True),
    Column("parent_id", Text, nullable=False),  # the execution of the token
    Column("parent_attempt", Integer, nullable=False),
    Column("root", Text, nullable=False),  # the first of all its ancestors
    Column("ancestors", ARRAY(Text), nullable=False),  # those unfinished at the time, the parent last
    Column("at_s", Double, nullable=False),
    Index("ix_job_submissions_root", "root", "at_s"),
    Index("ix_job_submissions_ancestors", "ancestors", postgresql_using="gin"),
    Index("ix_job_submissions_parent", "parent_id", "at_s"),
    Index("ix_job_submissions_parent_unit", text("split_part(parent_id, '_', 1)")),
)

# Executions that others could open: what they read there, such as a token, they may have kept. An id is never reused.
opened_executions = Table(
    "opened_executions",
    metadata,
    Column("execution_id", Text, primary_key=True),
    Column("at_s", Double, nullable=False),
)

# Executions and arrays that were cancelled with their descendants.
stopped_jobs = Table(
    "stopped_jobs",
    metadata,
    Column("unit", Text, primary_key=True),
    Column("at_s", Double, nullable=False),
)
