"""Controllers of the object store, and the metrics that were added for its rules."""

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
    """A metric that was added for rules, and its present values."""

    name: str = Field(description="In capitals; rules may write it in any case.")
    source: Literal["prometheus", "python", "none"] = Field(
        description="`none`: a word that was registered, and nothing measures it."
    )
    text: str = Field(description="The expression, or the program.")
    mode: ControllerMode = Field(description="`dry`: it is measured, and rules do not see it; `off`: neither.")
    author: str | None = None
    created_s: float
    tenant_label: str | None = Field(default=None, description="Of an expression.")
    container_label: str | None = None
    age_s: float | None = Field(default=None, description="Of the values; null if none are known.")
    took_s: float | None = Field(default=None, description="The last evaluation.")
    values: list[StorageMetricValue] = Field(default=[], description="By tenant and container, 100 at most.")
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
        description="Of PromQL, one value a series.",
        examples=["sum by (tenant) (rate(zoe_object_store_bytes_total[1m]))"],
    )
    program: str | None = Field(
        default=None, min_length=1, max_length=PROGRAM_MAX, description="In Python, with a class `Metric`."
    )
    tenant_label: LabelName = Field(default="tenant", description="Label of an expression's series with their tenant.")
    container_label: LabelName = Field(default="container", description="Label with their container.")


class StorageMetricNew(StorageMetricRequest):
    """A metric to add, as the storage controller takes it."""

    name: MetricName


class StorageSwitchView(Wire):
    """When the condition of a rule with metrics began, or ended, to hold for some object."""

    at_s: float
    active: bool
    dry: bool = Field(description="Whether no proxy had the rule.")
    metrics: dict[str, float] = Field(description="The values then, as far as they were known.")


class StorageControllerView(Wire):
    """A controller: a loop from metrics to the store."""

    name: str = Field(description="`bandwidth`, `health`, `replication`, `rule-<number>` or `metric-<name>`.")
    kind: Literal["bandwidth", "health", "replication", "rule", "metric"]
    what: str = Field(description="What it does, or the text of the rule.")
    mode: ControllerMode = Field(description="`dry`: it decides, and nothing is pushed to proxies.")
    active: bool | None = Field(default=None, description="Of a rule: whether its condition holds for some object.")
    last: str = Field(description="What it did last; in a dry run, what it would have done. Empty: nothing yet.")
    last_s: float | None = None
    runs: int = Field(description="That went well, since the storage controller began.")
    failures: int
    problem: str = Field(description="Why the last run failed; empty if it went well.")
    warning: str = Field(default="", description="What does not hold while it has this mode; empty: nothing to say.")
    waits_s: float = Field(description="Until it is begun again after a failure; 0 while it runs.")
    switches: list[StorageSwitchView] = Field(default=[], description="Of a rule, the newest first; 100 at most.")


class StorageHostingView(Wire):
    """The filters of a proxy, as the storage controller lists them by its name."""

    silent_s: float | None
    filters: list[str]


class StorageProxyView(Wire):
    """A proxy of the object store, or a gateway."""

    name: str
    silent_s: float | None = Field(description="For how long it has not reported; null: it never did.")
    filters: list[str] = Field(description="That it has; empty before its first report.")


class StorageControllerList(Wire):
    """Controllers, without their switches, and the proxies that carry out what they decide."""

    controllers: list[StorageControllerView]
    proxies: list[StorageProxyView] = Field(default=[], description="Empty for an older storage controller.")


class StorageControllerRequest(Wire):
    """The mode of a controller."""

    mode: ControllerMode
