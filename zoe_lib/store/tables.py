"""All tables: importing this module registers them. Migrations must lead to exactly these (a test compares them)."""

from __future__ import annotations

from zoe_lib.store import (  # noqa: F401 - registers
    account_tables,
    array_tables,
    billing_tables,
    execution_tables,
    installation_tables,
    job_tables,
    schedule_tables,
    sum_tables,
    workflow_tables,
)
from zoe_lib.store.metadata import metadata

__all__ = ["metadata"]
