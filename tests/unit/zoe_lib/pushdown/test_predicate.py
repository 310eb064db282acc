"""Grammar of a `where`, and messages for invalid ones."""

from __future__ import annotations

import pytest

from zoe_lib.pushdown.predicate import And, Comparison, IsNull, Not, Or, PredicateError, columns, parse


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("city = 'Nice'", Comparison("city", "=", "Nice")),
        ("kwh>=1.5e3", Comparison("kwh", ">=", 1500.0)),
        ("kwh <> -1", Comparison("kwh", "!=", -1.0)),
        ("name = 'O''Hara'", Comparison("name", "=", "O'Hara")),
        ("`the city` = ''", Comparison("the city", "=", "")),
        ("a is null", IsNull("a")),
        ("a IS NOT NULL", Not(IsNull("a"))),
        ("a in (1, 'x')", Or((Comparison("a", "=", 1.0), Comparison("a", "=", "x")))),
        ("a not in (1)", Not(Comparison("a", "=", 1.0))),
        ("a between 1 and 2", And((Comparison("a", ">=", 1.0), Comparison("a", "<=", 2.0)))),
        ("not a = 1", Not(Comparison("a", "=", 1.0))),
        (
            "a = 1 or b = 2 and c = 3",
            Or((Comparison("a", "=", 1.0), And((Comparison("b", "=", 2.0), Comparison("c", "=", 3.0))))),
        ),
        (
            "(a = 1 or b = 2) and c = 3",
            And((Or((Comparison("a", "=", 1.0), Comparison("b", "=", 2.0))), Comparison("c", "=", 3.0))),
        ),
    ],
)
def test_valid_predicate_is_parsed(text: str, meaning: object) -> None:
    assert parse(text) == meaning


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "ends too early: a column is expected"),
        ("city", "ends too early: a comparison is expected"),
        ("city = ", "ends too early: a number or a 'text' is expected"),
        ("city = Nice", "a number or a 'text' is expected at character 8, not 'Nice'"),
        ("city = 'Nice", 'cannot be parsed from character 8: "\'Nice"'),
        ("city like 'N%'", "a comparison is expected at character 6, not 'like'"),
        ("a = 1 b = 2", "the end is expected at character 7, not 'b'"),
        ("(a = 1", "ends too early: ')' is expected"),
        ("a not 1", "`in` or `between` is expected at character 7, not '1'"),
        ("1 = a", "a column is expected at character 1, not '1'"),
        ("a = 1; drop table x", "cannot be parsed from character 6: '; drop table x'"),
        ("a = 1 or " * 250 + "a = 1", "the condition has more than 200 comparisons"),
        ("not " * 60 + "a = 1", "the condition is nested more than 50 levels deep"),
        ("a" * 5000, "the condition is longer than 4096 characters"),
    ],
)
def test_invalid_predicate_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(PredicateError) as error:
        parse(text)
    assert str(error.value) == words


def test_the_columns_that_are_looked_at() -> None:
    assert columns(parse("a = 1 or not (b is null and c in (1, 2))")) == {"a", "b", "c"}
