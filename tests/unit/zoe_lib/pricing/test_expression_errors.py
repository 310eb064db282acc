"""Messages for invalid expressions: in our words, without those of the parser."""

from __future__ import annotations

import pytest

from zoe_lib.pricing.expressions import ExpressionError, check_amount, check_condition, check_percent


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cores *", "it cannot be read: it ends too early"),
        ("((cores)", "it cannot be read: ')' is missing at character 9"),
        ("cores == == 2", "it cannot be read: '==' is not expected at character 10"),
        ("foo.bar", "foo is not known here; known are cores, user"),
        ("cores / 0", "float / int is not possible: both sides must be of one type; convert with int(x), double(x) or"),
        ("cores[0]", "an operator or a function gets a value of a type that it does not take"),
        ("[1].map(x, x)", "map() is not available here"),
        ("[1].map//\n(a, a).size()", "map() is not available here"),
        ("[1].filter // b\n\t// c\n (a, a > 0).size()", "filter() is not available here"),
        ("'a'", "the result 'a' is not an amount"),
        ("0.5", None),
        ('"0.05"', None),
    ],
)
def test_invalid_expression_is_refused_in_plain_words(text: str, why: str | None) -> None:
    sample = {"cores": 2.0, "user": "ada"}
    if why is None:
        check_amount(text, sample)
        return
    with pytest.raises(ExpressionError) as told:
        check_amount(text, sample)
    assert why in str(told.value)
    assert not {"EOF", "IDENTIFIER", "CEL", "<input>"} & set(str(told.value).split())


def test_a_percentage_and_a_condition_have_bounds_of_their_own() -> None:
    with pytest.raises(ExpressionError, match="at most 100"):
        check_percent("101", {})
    with pytest.raises(ExpressionError, match="neither true nor false"):
        check_condition("1", {})
