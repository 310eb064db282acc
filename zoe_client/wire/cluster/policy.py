"""The admin's policy."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from zoe_client.vocabulary import PRIORITY_MAX
from zoe_client.wire.base import INTEGER_MAX, NUMBER, Numbers, Wire

Order = Literal[
    "fifo", "sjf", "size", "srpt", "hrrn", "las", "psbs", "edf", "fair-share",
    "wfp3", "unicef", "f1", "f2", "f3", "f4", "learned-ratio",
]  # fmt: skip


TIME_MAX = 253_402_300_799.0
"""The last second of the year 9999, since the epoch."""
WEIGHT_MAX = 1e15
"""Maximum of weights and shares; keeps computed values finite."""


SHARE_MIN = 1e-15
"""The smallest share; keeps ratios of two shares finite."""


def _share(given: float) -> float:
    if given < SHARE_MIN:
        raise PydanticCustomError("greater_than_equal", "must be at least {ge}", {"ge": SHARE_MIN})
    return given


class TenantLimitView(Numbers):
    """Maximum resources that the running services of a tenant may reserve in total, and bandwidth of the object store
    that they may have guaranteed; null: unlimited.
    """

    cores_milli: int | None = Field(default=None, ge=0, le=INTEGER_MAX)
    memory_bytes: int | None = Field(default=None, ge=0, le=INTEGER_MAX)
    read_bytes_per_s: int | None = Field(default=None, ge=0, le=INTEGER_MAX)
    write_bytes_per_s: int | None = Field(default=None, ge=0, le=INTEGER_MAX)


class UserLimitView(Numbers):
    """Maximum resources that the running services of one user may reserve in a tenant, in total; null: unlimited."""

    cores_milli: int | None = Field(default=None, ge=0, le=INTEGER_MAX)
    memory_bytes: int | None = Field(default=None, ge=0, le=INTEGER_MAX)


class NodeHoldView(Numbers):
    """A node that is drained (no tenant) or reserved for one tenant, from `since_s` until before `until_s`."""

    tenant: str | None = None
    since_s: float = Field(default=0.0, ge=0, le=TIME_MAX)
    until_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    note: str = Field(default="", max_length=200)

    @field_validator("until_s")
    @classmethod
    def _within_the_years_of_dates(cls, given: float | None) -> float | None:
        if given is not None and given > TIME_MAX:
            raise PydanticCustomError("less_than_equal", "must be at most {le}", {"le": TIME_MAX})
        return given


class PolicyView(Numbers):
    """The admin's policy; see docs/reference/policy.md for every field."""

    order: Order = "size"
    backfill: Literal["none", "easy", "easy-sjbf", "conservative"] = "easy-sjbf"
    backfill_depth_max: int = Field(default=100, ge=1, le=10_000)
    preemption: Literal["none", "elastic"] = "elastic"
    ageing_s: float = Field(default=36_000.0, ge=0, allow_inf_nan=False)
    tenants: Literal["none", "drf"] = "none"
    tenant_shares: dict[str, Annotated[float, Field(gt=0, le=WEIGHT_MAX), AfterValidator(_share), NUMBER]] = Field(
        default={}
    )
    tenant_limits: dict[str, TenantLimitView] = Field(default={})
    user_limits: dict[str, UserLimitView] = Field(default={})
    priorities_max: dict[str, Annotated[int, Field(ge=-PRIORITY_MAX, le=PRIORITY_MAX), NUMBER]] = Field(default={})
    usage_half_life_s: float = Field(default=7 * 86400.0, gt=0, allow_inf_nan=False)
    fair_share_age_weight: float = Field(default=0.06, ge=0, allow_inf_nan=False)
    interactive_share: float = Field(default=0.0, ge=0, le=1)
    default_time_limit_s: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    node_holds: dict[str, NodeHoldView] = Field(default={})
    node_windows: dict[str, list[NodeHoldView]] = Field(
        default={}, description="Further holds, which have an end, by node; at most 32 of each."
    )
    filters: list[str] = Field(default=[])
    weighers: dict[str, Annotated[float, Field(ge=-WEIGHT_MAX, le=WEIGHT_MAX), NUMBER]] = Field(default={})
    promise_share: float = Field(default=0.8, ge=0, le=1)
    promise_offer_s: float = Field(default=120.0, ge=1, le=86400)
    queue_scan_max: int = Field(default=100_000, ge=1, le=INTEGER_MAX)
    placements_per_tick_max: int = Field(default=10_000, ge=1, le=INTEGER_MAX)
    start_attempts_max: int = Field(default=3, ge=1, le=100)
    elastic_failures_max: int = Field(default=5, ge=1, le=100)
    elastic_backoff_s: float = Field(default=5.0, gt=0, le=3600)
    retry_backoff_s: float = Field(default=1.0, gt=0, le=3600)
    retry_backoff_max_s: float = Field(default=300.0, gt=0, le=86400)
    storage_patience_s: float = Field(default=30.0, gt=0, le=86400)
    idle_after_s: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    idle_warning_s: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    idle_cores_milli: int = Field(default=100, ge=0, le=INTEGER_MAX)
    idle_without_ports: bool = False
    submissions_closed: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        default="",
        max_length=300,
        description="Sentence for users while no submissions are taken; empty: they are taken. Operators may submit.",
    )
    version: int = 0


class PluginView(Wire):
    """An installed filter, weigher or back-end, and its distribution."""

    kind: Literal["filter", "weigher", "backend"]
    name: str
    distribution: str
    version: str
    problem: str = Field(default="", description="Why it cannot be used; empty when it can.")


class PluginList(Wire):
    """Names that policies and settings may use, Zoe's own first."""

    plugins: list[PluginView]


class PassView(Wire):
    """One pass over the present queue: the first hundred executions in order, and the first hundred that would
    start.
    """

    first: list[str]
    starts: list[str]
    starts_total: int
    preempted_total: int = Field(description="Elastic services that would be stopped.")
    window_ahead_total: int = Field(
        default=0, description="Waiting executions that may not have ended when nodes are drained or reserved."
    )
    window_ahead_without_limit: int = Field(
        default=0, description="Those of them without a time limit and a declared run time."
    )


class DryRunView(Wire):
    """Results of the present and the proposed policy for the present queue."""

    present: PassView
    wanted: PassView
