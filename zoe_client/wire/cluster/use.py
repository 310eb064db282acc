"""Use by day, and the limits of tenants and users with their use."""

from __future__ import annotations

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from zoe_client.wire.base import INTEGER_MAX, Numbers, Wire
from zoe_client.wire.cluster.prices import PriceView
from zoe_client.wire.people.people import TIME_LIMIT_S_MAX


class ExecutionUseView(Wire):
    """Use and reservations of all services of an execution so far, in all attempts."""

    execution_id: str
    cpu_s: float = Field(description="CPU seconds, as sampled.")
    reserved_core_s: float = Field(description="Reserved cores, multiplied by the seconds of their reservation.")
    memory_peak_bytes: int = Field(description="Maximum memory of any service, among the stored samples.")
    memory_reserved_bytes: int = Field(description="Memory that this service reserved.")
    price: PriceView | None = Field(
        default=None, description="Cost so far, before discounts; null without a price list."
    )
    unused: str | None = Field(default=None, description="Part of the price for unused reservations, as sampled.")


class ExecutionUseList(Wire):
    """Use of the executions that you may see."""

    use: list[ExecutionUseView]


class DayUseView(Wire):
    """Reservations of one user's services in one tenant on a day (UTC), multiplied by their hours."""

    day: str = Field(description="Date, such as 2026-11-21.")
    tenant: str
    user: str
    core_hours: float
    memory_gib_hours: float
    store_gib: float = Field(description="Granted bandwidth of the object store, multiplied by its duration.")


class DailyUse(Wire):
    """Use by day, tenant and user, in this order; it includes running and removed executions."""

    days: list[DayUseView]


class Meter(Wire):
    """A limit and its use; a limit of null is unlimited."""

    used: int
    limit: int | None


class QuotaMeters(Wire):
    """Present use of a tenant's limits. An execution beyond a limit of cores, memory or bandwidth waits; a submission
    beyond the limit of executions, or with too long a time limit, is refused.
    """

    tenant: str
    executions: Meter
    executions_of_user: Meter = Field(description="Executions of the calling user.")
    time_limit_s_max: float | None = Field(
        description="Longest time limit that an execution may have; null: unlimited."
    )
    cores_milli: Meter
    memory_bytes: Meter
    cores_milli_of_user: Meter = Field(description="Cores of the calling user in this tenant.")
    memory_bytes_of_user: Meter = Field(description="Memory of the calling user in this tenant.")
    read_bytes_per_s: Meter
    write_bytes_per_s: Meter


class LimitAmounts(Numbers):
    """The amounts of a limit; null is unlimited. Users have limits of executions, cores and memory."""

    executions: int | None = Field(
        default=None, ge=0, le=2**31 - 1, description="Maximum of waiting and running executions."
    )
    time_limit_s: float | None = Field(
        default=None,
        gt=0,
        le=TIME_LIMIT_S_MAX,
        description="Longest time limit of an execution, and the default of executions without one.",
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
    def _dump_set_fields(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: most for name, most in whole(self).items() if name in self.model_fields_set}


class LimitChange(Wire):
    """Amounts to set for a subject; amounts that are not given stay."""

    tenant: str = Field(default="*", max_length=128, description="`*`: all tenants without a limit of their own.")
    user: str | None = Field(
        default=None, max_length=200, description="`*`: each user of the tenant; null: the tenant as a whole."
    )
    amounts: LimitAmounts


class LimitView(Wire):
    """Amounts set for a subject: null is unlimited; a missing amount follows the default."""

    tenant: str = Field(description="`*`: all tenants without a limit of their own.")
    user: str | None = Field(description="`*`: each user of the tenant; null: the tenant as a whole.")
    amounts: dict[str, int | float | None]


class MetersView(Wire):
    """Present use of the limits of a tenant, or of a user in it, by amount."""

    tenant: str
    user: str | None = Field(description="Null: the tenant as a whole.")
    time_limit_s: float | None = Field(description="Longest time limit of an execution; null: unlimited.")
    meters: dict[str, Meter]


class LimitList(Wire):
    """All limits, and the use of tenants and users."""

    limits: list[LimitView]
    meters: list[MetersView]
