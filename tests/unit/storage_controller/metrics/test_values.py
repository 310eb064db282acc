"""Values of added metrics: what sources answer, whatever it is, and which value a rule gets."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_controller.metrics.values import SERIES_MAX, MetricFault, read_answer, read_prometheus, value_for
from storage_filters.rules.rules import Target, TargetKind

TENANT, CONTAINER = Target(TargetKind.TENANT, "acme"), Target(TargetKind.CONTAINER, "acme", "logs")


def vector(*series: tuple[dict[str, str], str]) -> dict[str, Any]:
    result = [{"metric": labels, "value": [1.5, value]} for labels, value in series]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def test_labels_are_tenants_and_containers() -> None:
    answer = vector(({"who": "acme", "where": "logs"}, "7"), ({"who": "acme"}, "3.5"), ({}, "1"))
    assert read_prometheus(answer, "who", "where") == {("acme", "logs"): 7.0, ("acme", ""): 3.5, ("", ""): 1.0}
    scalar = {"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}}
    assert read_prometheus(scalar, "who", "where") == {("", ""): 2.0}


def test_value_that_is_no_number_is_unknown() -> None:
    assert read_prometheus(vector(({"tenant": "a"}, "NaN"), ({"tenant": "b"}, "+Inf")), "tenant", "container") == {}
    assert read_answer({"a": math.nan, "b": 2}) == {("b", ""): 2.0}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"status": "error", "error": "parse error: unexpected"}, "refuses the expression: parse error"),
        ({"status": "success", "data": {"resultType": "matrix", "result": []}}, "gives a matrix"),
        (vector(({"tenant": "a", "x": "1"}, "1"), ({"tenant": "a", "x": "2"}, "1")), "several values for a: aggregate"),
        (vector(({"container": "c"}, "1")), "without a tenant"),
        (vector(({"tenant": "a"}, "many")), "'many' is not a number"),
        (vector(*(({"tenant": str(n)}, "1") for n in range(SERIES_MAX + 1))), "the maximum is 1000"),
        (vector(({"tenant": "a" * 600}, "1")), "longer than 512 characters"),
        ([], "not from a Prometheus"),
        (None, "not from a Prometheus"),
        ({"status": "success", "data": {"resultType": "vector", "result": [{}]}}, "not from a Prometheus"),
    ],
)
def test_a_bad_answer_of_prometheus_has_a_sentence(answer: Any, sentence: str) -> None:
    with pytest.raises(MetricFault, match=sentence.replace("'", ".")):
        read_prometheus(answer, "tenant", "container")


@pytest.mark.parametrize(
    "answer", ["5", None, True, [1], {"a": "5"}, {"a": True}, {"a": {}}, {"/c": 1}, {"a": 10**400}]
)
def test_a_program_that_lies_in_types_has_a_sentence(answer: Any) -> None:
    with pytest.raises(MetricFault):
        read_answer(answer)


def test_a_program_that_floods_has_a_sentence() -> None:
    with pytest.raises(MetricFault, match="1001 values"):
        read_answer({str(n): 1 for n in range(SERIES_MAX + 1)})


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_answer_gives_finite_values_or_a_sentence(answer: Any) -> None:
    for read in (read_answer, lambda entry: read_prometheus(entry, "tenant", "container")):
        with suppress(MetricFault):  # any other error fails
            assert all(map(math.isfinite, read(answer).values()))


def test_a_rule_gets_the_value_of_its_container_else_of_its_tenant_else_of_all() -> None:
    series = {("acme", "logs"): 3.0, ("acme", ""): 2.0, ("", ""): 1.0}
    assert value_for(CONTAINER, series, {}) == 3.0
    assert value_for(Target(TargetKind.OBJECT, "acme", "logs", "a"), series, {}) == 3.0
    assert value_for(TENANT, series, {}) == 2.0
    assert value_for(Target(TargetKind.CONTAINER, "acme", "other"), series, {}) == 2.0
    assert value_for(Target(TargetKind.TENANT, "beta"), series, {}) == 1.0
    assert value_for(TENANT, {("acme", "logs"): 3.0}, {}) is None


def test_a_group_gets_the_greatest_value_of_its_members() -> None:
    group = Target(TargetKind.GROUP, "both")
    members = {"both": ["acme/logs", "beta"]}
    assert value_for(group, {("acme", "logs"): 3.0, ("beta", ""): 9.0, ("gamma", ""): 50.0}, members) == 9.0
    assert value_for(group, {("gamma", ""): 50.0}, members) is None
    assert value_for(group, {("", ""): 4.0}, {}) == 4.0
