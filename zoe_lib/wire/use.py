"""Use by day."""

from __future__ import annotations

from pydantic import Field

from zoe_lib.wire.base import Wire


class DayUseView(Wire):
    """What the services of one user in one tenant reserved on a day (UTC), times the hours for which they had it."""

    day: str = Field(description="Such as 2026-11-21.")
    tenant: str
    user: str
    core_hours: float
    memory_gib_hours: float


class DailyUse(Wire):
    """Use by day, tenant and user, in this order; executions that were removed are counted, too."""

    days: list[DayUseView]
