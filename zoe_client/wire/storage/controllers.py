"""Controllers of the object store, and the metrics added for its rules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from zoe_client.wire.base import Wire
from zoe_client.words.names import METRIC_NAME

PROGRAM_MAX, EXPRESSION_MAX = 64 * 1024, 4096
ControllerMode = Literal["on", "dry", "off"]
MetricName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=METRIC_NAME)]
LabelName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=METRIC_NAME)]


class StorageMetricValue(Wire):
    """A value of a metric: for a tenant's container, for a tenant, or for all."""

    tenant: str | None
    container: str | None
    value: float


class StorageMetricView(Wire):
    """A metric added for rules, and its present values."""

    name: str = Field(description="Name in capitals; rules may write it in any case.")
    source: Literal["prometheus", "python", "none"] = Field(description="`none`: registered, but not measured.")
    text: str = Field(description="The expression, or the program.")
    mode: ControllerMode = Field(description="`dry`: measured, but not used by rules; `off`: not measured.")
    author: str | None = None
    created_s: float
    tenant_label: str | None = Field(default=None, description="For an expression.")
    container_label: str | None = None
    age_s: float | None = Field(default=None, description="Age of the values in seconds; null if none are known.")
    took_s: float | None = Field(default=None, description="Duration of the last evaluation in seconds.")
    values: list[StorageMetricValue] = Field(default=[], description="Values by tenant and container, 100 at most.")
    values_count: int = 0
    problem: str = Field(default="", description="Why the last evaluation gave no values; empty if it did.")
    rules: list[int] = Field(default=[], description="Numbers of the rules that use it.")


class StorageMetricList(Wire):
    """Metrics by name."""

    metrics: list[StorageMetricView]


class StorageMetricRequest(Wire):
    """A metric to add: an expression, or a program."""

    expression: str | None = Field(
        default=None,
        min_length=1,
        max_length=EXPRESSION_MAX,
        description="PromQL expression; one value for each series.",
        examples=["sum by (tenant) (rate(zoe_object_store_bytes_total[1m]))"],
    )
    program: str | None = Field(
        default=None, min_length=1, max_length=PROGRAM_MAX, description="Program in Python, with a class `Metric`."
    )
    tenant_label: LabelName = Field(default="tenant", description="Label of the series that holds the tenant.")
    container_label: LabelName = Field(default="container", description="Label of the series that holds the container.")


class StorageMetricNew(StorageMetricRequest):
    """A metric to add, in the form of the storage controller."""

    name: MetricName


class StorageSwitchView(Wire):
    """The time at which the condition of a rule with metrics began, or ceased, to hold for some object."""

    at_s: float
    active: bool
    dry: bool = Field(description="Whether the rule was only evaluated, and no proxy had it.")
    metrics: dict[str, float] = Field(description="Values at that time, as far as known.")


class StorageControllerView(Wire):
    """A controller: a loop that reads metrics and acts on the store."""

    name: str = Field(description="`bandwidth`, `health`, `replication`, `rule-<number>` or `metric-<name>`.")
    kind: Literal["bandwidth", "health", "replication", "rule", "metric"]
    what: str = Field(description="Purpose, or the text of the rule.")
    mode: ControllerMode = Field(description="`dry`: it decides, and changes no proxy.")
    active: bool | None = Field(default=None, description="For a rule: whether its condition holds for some object.")
    last: str = Field(
        description="Its last action, or in a dry run the action that it would have taken. Empty: none yet."
    )
    last_s: float | None = None
    runs: int = Field(description="Successful runs since the storage controller started.")
    failures: int
    problem: str = Field(description="Why the last run failed; empty if it succeeded.")
    warning: str = Field(default="", description="Consequence of the present mode; empty: none.")
    waits_s: float = Field(description="Seconds until it restarts after a failure; 0 while it runs.")
    switches: list[StorageSwitchView] = Field(default=[], description="For a rule, the newest first; 100 at most.")


class StorageHostingView(Wire):
    """The filters of a proxy, as the storage controller lists them under its name."""

    silent_s: float | None
    filters: list[str]


class StorageProxyView(Wire):
    """A proxy of the object store, or a gateway."""

    name: str
    silent_s: float | None = Field(description="Seconds since its last report; null: it has never reported.")
    filters: list[str] = Field(description="Its installed filters; empty before its first report.")


class StorageControllerList(Wire):
    """Controllers, without their switches, and the proxies that carry out their decisions."""

    controllers: list[StorageControllerView]
    proxies: list[StorageProxyView] = Field(default=[], description="Empty for an older storage controller.")


class StorageControllerRequest(Wire):
    """The mode of a controller."""

    mode: ControllerMode
