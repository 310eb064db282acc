"""Operations per second of rules with metrics: averaged, and told when a comparison changes."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from storage_controller.rules.dsl import parse_rule
from storage_controller.traffic.operation_meter import OperationMeter
from storage_filters.rules.chains import chain_of
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.metrics import WINDOW_S, rules_to_count, values_to_send
from storage_filters.wsgi.object_requests import ObjectRequest

RULE = replace(parse_rule("FOR CONTAINER a/b WHEN GETS_SEC > 5 AND OBJECT_SIZE<10M DO SET NOOP TRANSIENT"), id=7)
BOOK = RuleBook((replace(parse_rule("FOR TENANT a DO SET NOOP"), id=6), RULE))


def test_a_metric_is_the_mean_of_the_last_seconds_over_all_proxies() -> None:
    meter = OperationMeter()
    for number in range(20):
        meter.add({7: {"get": 2, "put": 1}}, number / 4)
        meter.add({7: {"get": 1}}, number / 4)  # another proxy
    assert meter.metrics(BOOK, 4.75) == {7: {"GETS_SEC": 12.0, "PUTS_SEC": 4.0, "OPS_SEC": 16.0}}
    assert meter.metrics(BOOK, 4.75 + WINDOW_S) == {7: {"GETS_SEC": 0.0, "PUTS_SEC": 0.0, "OPS_SEC": 0.0}}


def test_the_rule_holds_while_its_condition_does() -> None:
    meter = OperationMeter()
    request = ObjectRequest("a", "b", "c", 100)

    def filters(now_s: float) -> int:
        return sum(
            step.rule.id == 7 for step in chain_of(replace(BOOK, metrics=meter.metrics(BOOK, now_s)), request).steps
        )

    assert filters(0.0) == 0
    meter.add({7: {"get": 26}}, 1.0)
    assert (filters(1.0), filters(5.9), filters(6.1)) == (1, 1, 0)


@given(st.lists(st.floats(0, 12), min_size=1, max_size=20))
def test_sent_values_compare_like_the_true_ones(values: list[float]) -> None:
    told = None
    changes = 0
    for value in values:
        before, told = told, values_to_send(RULE, told, {"GETS_SEC": value})
        assert (told["GETS_SEC"] > 5) == (value > 5)
        changes += told is not before
    truths = [value > 5 for value in values]
    assert changes == 1 + sum(flag != other for flag, other in itertools.pairwise(truths))


def test_only_rules_with_metrics_are_counted_for_objects_of_their_targets() -> None:
    assert list(rules_to_count(BOOK, ObjectRequest("a", "b", "x"))) == [7]
    assert list(rules_to_count(BOOK, ObjectRequest("a", "c", "x"))) == []
