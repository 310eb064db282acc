"""Decide when the conditions of rules with metrics hold, from the metrics of each source, by the rules' controllers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from sqlalchemy.exc import SQLAlchemyError

from storage_controller.answers import RequestRefusedError
from storage_controller.database.controller_ledger import ControllerLedger
from storage_controller.database.supervision import Supervisor
from storage_controller.regulation.rule_loops import RuleLoops, operations_by_traffic
from storage_controller.rules.rule_store import RuleBooks
from storage_controller.traffic.contents import Contents
from storage_controller.traffic.operation_meter import Counts, OperationMeter
from storage_controller.traffic.traffic import Traffic
from storage_filters.rules.metrics import Values
from storage_filters.rules.rules import Rule, metrics_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
Added = Callable[[Rule, Mapping[str, frozenset[str]]], Values]
"""Returns the values of added metrics for a rule, from the rule and the members of groups."""


class RuleJudge:
    """For the thread of the loop, except `values` and `active`. added: values of metrics of the installation."""

    def __init__(
        self,
        kept: ControllerLedger,
        supervisor: Supervisor,
        traffic: Traffic,
        contents: Contents,
        added: Added = lambda *_: {},
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._added = added
        self._kept = kept
        self._traffic = traffic
        self._contents = contents
        self._operations = OperationMeter()
        self._loops = RuleLoops(supervisor, clock)

    def hear(self, operations: Counts, now_s: float) -> None:
        """Record the operations that a proxy counted for its rules."""
        self._operations.add(operations, now_s)

    def values(self) -> Mapping[int, Values]:
        """Return the values of metrics that the proxies know, by rule, and those of rules in a dry run."""
        return {**self._operations.sent_values, **self._loops.values()}

    def active(self) -> Mapping[str, bool]:
        """Return whether the condition of each rule with metrics holds, by its controller."""
        return self._loops.active()

    def judge(self, books: RuleBooks, now_s: float) -> Mapping[int, Values]:
        """Return the values for the rules of proxies; judge all rules by theirs, and store the switches."""
        groups = books.held.groups

        def further(rule: Rule) -> Values:
            return {**self._contents.values(rule, groups), **self._added(rule, groups)}

        held = self._operations.metrics(books.held, now_s, further)
        dry = {
            rule.id: {**operations_by_traffic(rule, self._traffic, groups), **further(rule)}
            for rule in books.dry
            if metrics_of(rule)
        }
        self._loops.judge(held, (*books.held.rules, *books.dry), dry)
        self._keep()
        return held

    def _keep(self) -> None:
        new = self._loops.take()
        try:
            self._kept.keep_switches(new)
        except (RequestRefusedError, SQLAlchemyError) as error:
            _log.warning("cannot store the switches of rules, retrying: %s", error)
            self._loops.put_back(new)
