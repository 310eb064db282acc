"""Values of metrics of an installation: parse the answer of Prometheus or of a program, and select the value for a
rule.

Pure. A value belongs to a tenant, to one of its containers, or to all. This module validates every answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from storage_filters.rules.rules import Target, TargetKind

SERIES_MAX = 1000
"""Most values of one metric. A source with more is refused, since any part of them would be arbitrary."""
_NAME_MAX = 512
Place = tuple[str, str]
"""Tenant and container; both empty for all tenants, an empty container for all of the tenant's."""
Series = Mapping[Place, float]
TENANT_LABEL, CONTAINER_LABEL = "tenant", "container"


@dataclass(frozen=True, slots=True)
class Reading:
    """Values of a metric, and the time of the measurement, by the monotonic clock. judged: rules use them."""

    at_s: float
    took_s: float
    series: Series
    judged: bool


Readings = Callable[[], Mapping[str, Reading]]
"""Returns the values of each metric, by its name."""


class MetricFault(Exception):  # noqa: N818 - an answer, not a defect
    """A source returned no values; the message is a sentence."""


def read_prometheus(document: Any, tenant_label: str, container_label: str) -> Series:
    """Return the values in an answer to `/api/v1/query`, which is a scalar or an instant vector. Raises MetricFault."""
    try:
        if document["status"] != "success":
            raise MetricFault(f"Prometheus refuses the expression: {str(document.get('error', ''))[:300]}")
        kind, result = document["data"]["resultType"], document["data"]["result"]
        if kind == "scalar":
            return _series([(("", ""), _number(result[1]))])
        if kind != "vector":
            raise MetricFault(
                f"the expression gives a {str(kind)[:20]}: write one that gives a single value for each series"
            )
        if len(result) > SERIES_MAX:
            raise MetricFault(f"the expression gives {len(result)} series; the maximum is {SERIES_MAX}: aggregate them")
        return _series(
            [
                (
                    (str(entry["metric"].get(tenant_label, "")), str(entry["metric"].get(container_label, ""))),
                    _number(entry["value"][1]),
                )
                for entry in result
            ]
        )
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise MetricFault(f"the answer is not from a Prometheus: {error!r:.100}") from None


def read_answer(answer: Any) -> Series:
    """Return the values in a program's answer: a number for all, or numbers by `tenant` and `tenant/container`. Raises
    MetricFault.
    """
    if not isinstance(answer, dict):
        return _series([(("", ""), _number_of(answer, "the answer"))])
    if len(answer) > SERIES_MAX:
        raise MetricFault(f"the program returned {len(answer)} values; the maximum is {SERIES_MAX}")
    return _series([(_place(name), _number_of(value, f"the value of {name[:80]!r}")) for name, value in answer.items()])


def value_for(target: Target, series: Series, groups: Mapping[str, Iterable[str]]) -> float | None:
    """Return the value for a rule's target: its container's, else its tenant's, else that for all. None: unknown.

    A group has the greatest value of its members, so that a rule with `>` holds as soon as one of them is above.
    """
    if target.kind is not TargetKind.GROUP:
        return _value_at((target.tenant, target.container), series)
    values = [_value_at(_place(member), series) for member in groups.get(target.tenant, ())]
    return max((value for value in values if value is not None), default=series.get(("", "")))


def _value_at(place: Place, series: Series) -> float | None:
    tenant, container = place
    return next((series[item] for item in ((tenant, container), (tenant, ""), ("", "")) if item in series), None)


def _series(values: Iterable[tuple[Place, float]]) -> Series:
    found: dict[Place, float] = {}
    for place, value in values:
        tenant, container = place
        if container and not tenant:
            raise MetricFault(
                f"a value for the container {container[:80]!r} without a tenant: keep the label of tenants"
            )
        if max(len(tenant), len(container)) > _NAME_MAX:
            raise MetricFault(f"a label is longer than {_NAME_MAX} characters")
        if place in found:
            where = "/".join(filter(None, place))[:80] or "all"
            raise MetricFault(f"several values for {where}: aggregate, as in sum by (tenant, container) (...)")
        found[place] = value
    return {place: value for place, value in found.items() if math.isfinite(value)}  # others are unknown


def _place(name: str) -> Place:
    tenant, _, container = name.partition("/")
    return tenant, container


def _number(text: Any) -> float:
    try:
        return float(text)
    except ValueError:
        raise MetricFault(f"{str(text)[:40]!r} is not a number") from None


def _number_of(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MetricFault(f"{what} is {value!r:.60}, which is not a number")
    try:
        return float(value)
    except OverflowError:
        raise MetricFault(f"{what} is too large a number") from None
