"""Rules with metrics as controllers: record when the condition of each begins and ends to hold, also in dry runs. A
rule whose evaluation fails pauses; all others continue.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Mapping

from storage_controller.database.controller_ledger import Switch, rule_controller
from storage_controller.database.supervision import Supervisor
from storage_controller.traffic.traffic import Traffic
from storage_filters.rules.chains import compare
from storage_filters.rules.metrics import WINDOW_S, Values, values_of
from storage_filters.rules.rules import STATIC_NAMES, AllOf, Comparison, Condition, Rule, TargetKind, metrics_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
_WAITING_MAX = 1000
"""Most switches that wait for the database; the oldest further ones are dropped."""


class RuleLoops:
    """Last state of each rule. Not thread-safe, except `values` and `active`."""

    def __init__(self, supervisor: Supervisor, clock: Clock = SYSTEM_CLOCK) -> None:
        self._supervisor = supervisor
        self._clock = clock
        self._active: dict[str, bool] = {}
        self._tried: dict[str, bool] = {}
        self._values: dict[int, Values] = {}
        self._waiting: deque[Switch] = deque(maxlen=_WAITING_MAX)

    def active(self) -> Mapping[str, bool]:
        """Return by controller whether its condition holds for any object."""
        return dict(self._active)

    def values(self) -> Mapping[int, Values]:
        """Return the metrics of the rules in a dry run."""
        return dict(self._values)

    def judge(self, held: Mapping[int, Values], rules: Iterable[Rule], dry: Mapping[int, Values]) -> None:
        """Compare the rules with their values: those at the proxies, and those in a dry run."""
        dynamic = [rule for rule in rules if metrics_of(rule)]
        names = {rule_controller(rule.id) for rule in dynamic}
        self._supervisor.keep_only(rule_controller(0).removesuffix("0"), names)
        self._active = {name: state for name, state in self._active.items() if name in names}
        self._tried = {name: tried for name, tried in self._tried.items() if name in names}
        self._values = dict(dry)
        for rule in dynamic:
            name, tried = rule_controller(rule.id), rule.id in dry
            if self._supervisor.ready(name):
                with self._supervisor.run(name):
                    self._judge(name, rule, (dry if tried else held).get(rule.id, {}), tried)

    def take(self) -> list[Switch]:
        """Return the unstored switches, and forget them."""
        found = list(self._waiting)
        self._waiting.clear()
        return found

    def put_back(self, switches: Iterable[Switch]) -> None:
        """Return switches that could not be stored to the queue."""
        self._waiting.extendleft(reversed(list(switches)))

    def _judge(self, name: str, rule: Rule, values: Values, tried: bool) -> None:
        now = rule.condition is None or may_hold(rule.condition, values)
        before, other_mode = self._active.get(name), self._tried.get(name, tried) != tried
        self._active[name], self._tried[name] = now, tried
        if before == now and not other_mode:
            return
        if other_mode and not now:
            self._supervisor.record_action(
                name, "began a dry run: it would be off" if tried else "off, since its dry run ended"
            )
            return
        if before is None and not now:
            return  # it starts like this
        known = {metric: values[metric] for metric in metrics_of(rule) if metric in values}
        self._waiting.append(Switch(name, self._clock.now_s(), now, tried, known))
        told = ", ".join(f"{metric} is {value:g}" for metric, value in known.items()) or "its metric is not known"
        self._supervisor.record_action(
            name, f"{'would have ' if tried else ''}switched {'on' if now else 'off'}: {told}"
        )


def may_hold(condition: Condition, values: Values) -> bool:
    """Return whether a condition holds for some object: every term about objects counts as true."""
    if isinstance(condition, Comparison):
        name = condition.name.upper()
        return name in STATIC_NAMES or compare(condition, values.get(name))
    parts = (may_hold(part, values) for part in condition.parts)
    return all(parts) if isinstance(condition, AllOf) else any(parts)


def operations_by_traffic(rule: Rule, traffic: Traffic, groups: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return the operations per second on a rule's objects from the general counters of proxies, for a rule that they
    do not have; empty for a rule for one object, which these do not count.
    """
    if rule.target.kind is TargetKind.OBJECT:
        return {}
    places = groups.get(rule.target.tenant, frozenset()) if rule.target.kind is TargetKind.GROUP else {rule.target.name}
    covered_s, requests = traffic.recent(WINDOW_S)
    sums = {"GET": 0, "PUT": 0}
    for subject, entry in requests.items():
        if subject.method in sums and {subject.tenant, f"{subject.tenant}/{subject.container}"} & places:
            sums[subject.method] += entry.answered
    return values_of(sums["GET"] / covered_s, sums["PUT"] / covered_s)
