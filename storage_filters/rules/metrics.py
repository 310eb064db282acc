"""Metrics in conditions of rules: operations per second on the objects of a rule's target, and the share of bytes that
compression would save. Pure.

A proxy counts for each rule with a metric, by the rule's number; the controller adds up the reports of all proxies, and
sends new values with the rules when the result of a comparison changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from storage_filters.rules.chains import compare
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.rules import STATIC_NAMES, Rule, comparisons, metrics_of
from storage_filters.wsgi.object_requests import ObjectRequest

COMPRESSIBILITY = "COMPRESSIBILITY"
"""Share of the stored bytes that compression would save, in percent; see `bandwidth/content_samples.py`."""
METRICS = ("GETS_SEC", "PUTS_SEC", "OPS_SEC", COMPRESSIBILITY)
WINDOW_S = 5.0
"""Seconds over which operations are averaged."""
Values = Mapping[str, float]


def counter_name(rule_id: int) -> str:
    """Return the counter name of a rule's operations; no account has a slash in its name."""
    return f"rule/{rule_id}"


def rule_of_counter(name: str) -> int:
    """Return the rule of a counter. Raises ValueError."""
    return int(name.removeprefix("rule/"))


def rules_to_count(book: RuleBook, request: ObjectRequest) -> Iterator[int]:
    """Yield the rules with metrics whose target contains an object."""
    for _, rule in book.rules_for(request.tenant, request.container, request.object):
        if rule.condition is not None and metrics_of(rule):
            yield rule.id


def values_of(gets: float, puts: float) -> dict[str, float]:
    """Return the metrics of operations per second."""
    return {"GETS_SEC": gets, "PUTS_SEC": puts, "OPS_SEC": gets + puts}


def values_to_send(rule: Rule, told: Values | None, now: Values) -> Values:
    """Return the values to send: the last ones, while all comparisons have the same result and the same values are
    known.
    """
    if told is not None and told.keys() == now.keys() and _truths(rule, told) == _truths(rule, now):
        return told
    return now


def _truths(rule: Rule, values: Values) -> list[bool]:
    terms = (term for term in comparisons(rule.condition) if term.name.upper() not in STATIC_NAMES)
    return [compare(term, values.get(term.name.upper())) for term in terms]
