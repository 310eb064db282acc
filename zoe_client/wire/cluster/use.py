"""Use by day, and how much of their limits tenants and users have reached."""

from __future__ import annotations

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from zoe_client.wire.base import INTEGER_MAX, Numbers, Wire
from zoe_client.wire.cluster.prices import PriceView
from zoe_client.wire.people.people import TIME_LIMIT_S_MAX


class ExecutionUseView(Wire):
    """What all services of an execution used and reserved so far, in all attempts."""

    execution_id: str
    cpu_s: float = Field(description="CPU seconds, as sampled.")
    reserved_core_s: float = Field(description="Reserved cores, multiplied by the seconds for which they were used.")
    memory_peak_bytes: int = Field(description="The most that one service used, among the samples that are kept.")
    memory_reserved_bytes: int = Field(description="What that service reserved.")
    price: PriceView | None = Field(
        default=None, description="What it costs so far, before discounts; null if there was no price list."
    )
    unused: str | None = Field(default=None, description="The part of the price for what was not used, as sampled.")


class ExecutionUseList(Wire):
    """The use of executions, those that you may see."""

    use: list[ExecutionUseView]


class DayUseView(Wire):
    """What the services of one user in one tenant reserved on a day (UTC), multiplied by the hours for which they had
    it.
    """

    day: str = Field(description="Such as 2026-11-21.")
    tenant: str
    user: str
    core_hours: float
    memory_gib_hours: float
    store_gib: float = Field(description="Granted bandwidth of the object store, multiplied by its duration.")


class DailyUse(Wire):
    """Use by day, tenant and user, in this order; executions that run or were removed are counted, too."""

    days: list[DayUseView]


class Meter(Wire):
    """How much of a limit is used; a limit of null is unlimited."""

    used: int
    limit: int | None


class QuotaMeters(Wire):
    """What the executions of a tenant have now. One over a limit of cores, memory or bandwidth waits; beyond that of
    executions, and with a time limit beyond the longest, a submission is refused."""

    tenant: str
    executions: Meter
    executions_of_user: Meter = Field(description="Executions of the user who asks.")
    time_limit_s_max: float | None = Field(
        description="The longest time limit that an execution may have; null: unlimited."
    )
    cores_milli: Meter
    memory_bytes: Meter
    cores_milli_of_user: Meter = Field(description="Cores of the user who asks, in this tenant.")
    memory_bytes_of_user: Meter = Field(description="Memory of the user who asks, in this tenant.")
    read_bytes_per_s: Meter
    write_bytes_per_s: Meter


class LimitAmounts(Numbers):
    """The amounts of a limit; null is unlimited. Users have limits of executions, cores and memory."""

    executions: int | None = Field(default=None, ge=0, le=2**31 - 1, description="Maximum executions that wait or run.")
    time_limit_s: float | None = Field(
        default=None,
        gt=0,
        le=TIME_LIMIT_S_MAX,
        description="The longest time limit of an execution, and the default of those that ask for none.",
    )
    cores_milli: int | None = Field(
        default=None, ge=0, le=INTEGER_MAX, description="Maximum cores that running services reserve."
    )
    memory_bytes: int | None = Field(
        default=None, ge=0, le=INTEGER_MAX, description="Maximum memory that running services reserve."
    )
    read_bytes_per_s: int | None = Field(
        default=None, ge=0, le=INTEGER_MAX, description="Maximum bandwidth of the object store guaranteed for reading."
    )
    write_bytes_per_s: int | None = Field(
        default=None, ge=0, le=INTEGER_MAX, description="Maximum bandwidth of the object store guaranteed for writing."
    )

    @model_serializer(mode="wrap")
    def _those_set(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: most for name, most in whole(self).items() if name in self.model_fields_set}


class LimitChange(Wire):
    """Amounts to set for a subject; amounts that are not given stay as they are."""

    tenant: str = Field(default="*", max_length=128, description="`*`: all tenants without a limit of their own.")
    user: str | None = Field(
        default=None, max_length=200, description="`*`: each user of the tenant; null: the tenant as a whole."
    )
    amounts: LimitAmounts


class LimitView(Wire):
    """What is set for a subject: null is unlimited; an amount that is missing follows the default."""

    tenant: str = Field(description="`*`: all tenants without a limit of their own.")
    user: str | None = Field(description="`*`: each user of the tenant; null: the tenant as a whole.")
    amounts: dict[str, int | float | None]


class MetersView(Wire):
    """How much of its limits a tenant, or a user in it, uses now, by amount."""

    tenant: str
    user: str | None = Field(description="Null: the tenant as a whole.")
    time_limit_s: float | None = Field(description="The longest time limit of an execution; null: unlimited.")
    meters: dict[str, Meter]


class LimitList(Wire):
    """All limits that are set, and the meters of tenants and users."""

    limits: list[LimitView]
    meters: list[MetersView]
