"""Use by day, and how much of what a tenant may have it has."""

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
    store_gib: float = Field(description="Bandwidth granted of the object store times its duration.")


class DailyUse(Wire):
    """Use by day, tenant and user, in this order; executions that run or were removed are counted, too."""

    days: list[DayUseView]


class Meter(Wire):
    """How much is had of what may be had at the same time; a limit of null is none."""

    used: int
    limit: int | None


class QuotaMeters(Wire):
    """What the executions of a tenant have now. One over a limit of cores, memory or bandwidth waits; beyond that of
    executions, and with a time limit beyond the longest, a submission is refused."""

    tenant: str
    executions: Meter
    executions_of_user: Meter = Field(description="Of the one who asks.")
    time_limit_s_max: float | None = Field(
        description="The longest time limit that an execution may have; null: none is needed."
    )
    cores_milli: Meter
    memory_bytes: Meter
    cores_milli_of_user: Meter = Field(description="Of the one who asks, in this tenant.")
    memory_bytes_of_user: Meter = Field(description="Of the one who asks, in this tenant.")
    read_bytes_per_s: Meter
    write_bytes_per_s: Meter
