"""All tables: importing this module registers them. Migrations must lead to exactly these (a test compares them)."""

from __future__ import annotations

from zoe_lib.store.tables import accounts as account_tables  # noqa: F401 - registers
from zoe_lib.store.tables import arrays as array_tables  # noqa: F401 - registers
from zoe_lib.store.tables import billing as billing_tables  # noqa: F401 - registers
from zoe_lib.store.tables import executions as execution_tables  # noqa: F401 - registers
from zoe_lib.store.tables import installation as installation_tables  # noqa: F401 - registers
from zoe_lib.store.tables import jobs as job_tables  # noqa: F401 - registers
from zoe_lib.store.tables import schedules as schedule_tables  # noqa: F401 - registers
from zoe_lib.store.tables import sums as sum_tables  # noqa: F401 - registers
from zoe_lib.store.tables import volumes as volume_tables  # noqa: F401 - registers
from zoe_lib.store.tables import workflows as workflow_tables  # noqa: F401 - registers
from zoe_lib.store.tables.metadata import metadata

__all__ = ["metadata"]
