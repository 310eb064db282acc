"""Arithmetic in framework files."""

import pytest

from zoe_lib.descriptions.expressions import ExpressionError, evaluate, substitute

VALUES = {"n": 3, "m": 2**31, "half": 0.5, "words": ["a", "b"], "image": "zoe/x"}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("n + 1", 4),
        ("m // 1024 - 1", 2**21 - 1),
        ("max(1, half // 1)", 1),
        ("n / 2", 1.5),
        ("4 / 2", 2),
        ("image", "zoe/x"),
    ],
)
def test_evaluate(expression: str, value: object) -> None:
    assert evaluate(expression, VALUES) == value


@pytest.mark.parametrize(
    "expression", ["", "x", "n.real", "open('x')", "n ** 9", "[n]", "1 / 0", "'a' - 1", "lambda: 1"]
)
def test_other_expressions_are_refused(expression: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(expression, VALUES)


def test_substitute() -> None:
    template = {
        "count": "$(n)",
        "command": ["run", "$(words)", "$(n)", "-Xmx$((m - max(1, n)) // 1)b", "$$(date)"],
        "environment": {"N": "$(n)"},
        "ports": [{"number": 1}],
    }
    assert substitute(template, VALUES) == {
        "count": 3,
        "command": ["run", "a", "b", "3", f"-Xmx{2**31 - 3}b", "$(date)"],
        "environment": {"N": "3"},
        "ports": [{"number": 1}],
    }


def test_an_expression_without_end_is_refused() -> None:
    with pytest.raises(ExpressionError, match="not closed"):
        substitute("x $(n", VALUES)
