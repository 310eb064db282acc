"""Use by day, and how much of what a tenant may have it has."""

from __future__ import annotations

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from zoe_lib.wire.base import INTEGER_MAX, Numbers, Wire
from zoe_lib.wire.people import TIME_LIMIT_S_MAX


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


class LimitAmounts(Numbers):
    """The amounts of a limit; null is no limit. Users have limits of executions, cores and memory."""

    executions: int | None = Field(default=None, ge=0, le=2**31 - 1, description="That wait or run.")
    time_limit_s: float | None = Field(
        default=None,
        gt=0,
        le=TIME_LIMIT_S_MAX,
        description="The longest of one, which gets it without asking.",
    )
    cores_milli: int | None = Field(default=None, ge=0, le=INTEGER_MAX, description="That running services reserve.")
    memory_bytes: int | None = Field(default=None, ge=0, le=INTEGER_MAX, description="That running services reserve.")
    read_bytes_per_s: int | None = Field(
        default=None, ge=0, le=INTEGER_MAX, description="That is guaranteed of the object store."
    )
    write_bytes_per_s: int | None = Field(
        default=None, ge=0, le=INTEGER_MAX, description="That is guaranteed of the object store."
    )

    @model_serializer(mode="wrap")
    def _those_set(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: most for name, most in whole(self).items() if name in self.model_fields_set}


class LimitChange(Wire):
    """Amounts to set for a subject; those that are not named stay as they are."""

    tenant: str = Field(default="*", max_length=128, description="`*`: all that have none of their own.")
    user: str | None = Field(
        default=None, max_length=200, description="`*`: each user of the tenant; null: the tenant as a whole."
    )
    amounts: LimitAmounts


class LimitView(Wire):
    """What is set for a subject: null is no limit; an amount that is left out follows the default."""

    tenant: str = Field(description="`*`: all that have none of their own.")
    user: str | None = Field(description="`*`: each user of the tenant; null: the tenant as a whole.")
    amounts: dict[str, int | float | None]


class MetersView(Wire):
    """What a tenant, or a user in it, has now of what it may have, by amount."""

    tenant: str
    user: str | None = Field(description="Null: the tenant as a whole.")
    time_limit_s: float | None = Field(description="The longest time limit of one execution; null: none is needed.")
    meters: dict[str, Meter]


class LimitList(Wire):
    """All limits that are set, and the meters of tenants and users."""

    limits: list[LimitView]
    meters: list[MetersView]
