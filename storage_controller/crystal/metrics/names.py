"""Crystal's names of workload metrics in conditions, such as `get_ops`: counted by proxies, or by a program of ours.

A rule that names one of the second kind adds it to the metrics of the installation, as starting it does in Crystal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from storage_controller.metrics.added import AddedMetrics
from storage_controller.metrics.metric_store import MetricSource
from storage_filters.rules.rules import AllOf, AnyOf, Comparison, Condition, Rule, metrics_of

COUNTED = {"GET_OPS": "GETS_SEC", "PUT_OPS": "PUTS_SEC"}
_PROGRAM = '''"""Megabytes per second of each container, and of each tenant, that {method}s move."""


class Metric:
    def evaluate(self, counters):
        found = {{}}
        for row in counters["rows"]:
            if row["method"] == "{method}":
                rate = row["{field}"] / 1e6 / max(counters["seconds"], 0.001)
                for place in (row["tenant"], row["tenant"] + "/" + row["container"]):
                    found[place] = found.get(place, 0) + rate
        return found
'''
_FIELDS = {"GET": "read_bytes", "PUT": "written_bytes"}
MEASURED = {
    f"{method}_{noun}": _PROGRAM.format(method=method, field=field)
    for method, field in _FIELDS.items()
    for noun in ("BANDWIDTH", "BW")
}
"""Programs by the names that they measure."""


def translate(rules: Sequence[Rule]) -> list[Rule]:
    """Return rules with the names that proxies count in place of Crystal's."""
    return [rule if rule.condition is None else replace(rule, condition=_renamed(rule.condition)) for rule in rules]


def ensure_measured(rules: Sequence[Rule], added: AddedMetrics, author: str | None) -> None:
    """Add the programs for names of Crystal that rules use. Raises RequestRefusedError if there are too many."""
    wanted = {name for rule in rules for name in metrics_of(rule)} & set(MEASURED)
    for name in sorted(wanted - {metric.name for metric in added.kept.metrics()}):
        added.add(name, MetricSource.PYTHON, MEASURED[name], {"type": "float"}, author)


def _renamed(condition: Condition) -> Condition:
    if isinstance(condition, Comparison):
        return replace(condition, name=COUNTED.get(condition.name.upper(), condition.name))
    if isinstance(condition, AllOf):
        return AllOf(tuple(map(_renamed, condition.parts)))
    return AnyOf(tuple(map(_renamed, condition.parts)))
