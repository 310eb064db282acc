"""Filters of `zoe_arrow` as conditions of the store."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from storage_bridge.zoe_arrow import alternatives, check_types, columns_of, where

AT = {"kwh": 2, "city": 0, "day": 1, "on": 3}
TYPES = {"kwh": "double", "day": "date", "on": "boolean", "id": "long"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (None, ""),
        ([("kwh", ">", 90)], "(c2 > 90)"),
        ([("kwh", "==", 1.5), ("city", "!=", "it's")], "(c2 = 1.5 and c0 != 'it''s')"),
        ([[("kwh", "<", 1)], [("day", ">=", date(2015, 1, 31))]], "(c2 < 1) or (c1 >= '2015-01-31')"),
        ([("city", "in", ["Nice", "Turin"])], "((c0 = 'Nice' or c0 = 'Turin'))"),
        ([("city", "not in", ("Nice",))], "(not (c0 = 'Nice'))"),
        ([("on", "=", True)], "(c3 = 'true')"),
        # What the store has no literal for is left to Arrow.
        ([("kwh", "<", float("inf")), ("kwh", ">", 5)], "(c2 > 5)"),
        ([[("kwh", "<", float("nan"))], [("kwh", ">", 5)]], ""),
        ([("city", "=", "a\nb")], ""),
    ],
)
def test_filters_in_the_language_of_the_store(filters: Any, expected: str) -> None:
    assert where(alternatives(filters), AT) == expected


def test_columns_are_those_that_are_compared() -> None:
    assert columns_of(alternatives([[("kwh", ">", 1), ("city", "=", "a")], [("kwh", "<", 0)]])) == ["kwh", "city"]


@pytest.mark.parametrize(
    "filters",
    [
        [("kwh", "like", "9%")],
        [("kwh", ">")],
        [("city", "in", "Nice")],
        [("city", "in", [])],
        [("city", "=", ["Nice"])],
        ["kwh > 90"],
    ],
)
def test_other_filters_are_refused(filters: Any) -> None:
    with pytest.raises(ValueError, match=r"is not \(column|give a"):
        alternatives(filters)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (("size", ">", 90), r'size is a string, and 90 is not: give its type, such as types={"size": "long"}'),
        (("size", ">", None), "size is a string, and None is not: filters find no nulls"),
        (("kwh", ">", "90"), "kwh is a double"),
        (("kwh", ">", True), "kwh is a double"),
        (("on", "=", 1), "on is a boolean"),
        (("day", "=", "2015-01-31"), r"day is a date, and '2015-01-31' is not: give a datetime.date"),
        (("day", "=", datetime(2015, 1, 31)), "day is a date"),  # noqa: DTZ001
        (("id", "in", [1, "2"]), "id is a long"),
    ],
)
def test_a_value_of_another_type_is_refused(test: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_types(alternatives([test]), TYPES)


def test_values_of_their_types_are_compared() -> None:
    tests = [
        ("kwh", ">", 5),
        ("day", "=", date(2015, 1, 31)),
        ("on", "=", False),
        ("city", "=", "a"),
        ("id", "=", 2**60),
    ]
    check_types(alternatives(tests), TYPES)
