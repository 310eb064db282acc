"""Expressions of price lists, in CEL (Common Expression Language).

CEL has no decimal numbers, and its fractions are binary: an amount is a text, such as "0.05", or a whole number. So no
price is ever computed in floating point.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cel

PERCENT_MAX = 100
LENGTH_MAX = 500
"""Maximum characters of an expression."""
_AMOUNT = re.compile(r"\d{1,9}(\.\d{1,12})?", re.ASCII)
# The only loops of CEL. Without them, the length bounds the work. CEL allows blanks and comments between the name of a
# function and its parenthesis.
_LOOP = re.compile(
    r"\b(all|exists|exists_one|existsOne|map|filter|transformList|transformMap\w*)(?:\s|//[^\n]*(?:\n|$))*\("
)

# Messages of the ANTLR parser, and of the library that runs the expression.
_SYNTAX = re.compile(r"<input>:\d+:(\d+): Syntax error: (.*)")
_QUOTED = re.compile(r"'[^']{1,40}'")
_OPERATION = re.compile(r"Unsupported operation: (\w+ \S+ \w+)")

Values = Mapping[str, str | float]


class ExpressionError(ValueError):
    """An expression that cannot be read, or has no usable result; the message gives the cause."""


def check_amount(text: str, sample: Values) -> None:
    """Raise ExpressionError unless this is an amount, or an expression whose result for the sample is one."""
    amount_of(text, sample)


def check_percent(text: str, sample: Values) -> None:
    """Raise ExpressionError unless this is a percentage, or an expression whose result for the sample is one."""
    if amount_of(text, sample) > PERCENT_MAX:
        raise ExpressionError(f"percentages are at most {PERCENT_MAX}")


def check_condition(text: str, sample: Values) -> None:
    """Raise ExpressionError unless this is a condition."""
    is_true(text, sample)


def variables(text: str, known: Collection[str]) -> frozenset[str]:
    """Return the variables that an expression uses; ExpressionError for unknown ones."""
    return frozenset() if _AMOUNT.fullmatch(text) else frozenset(_compile(text, tuple(sorted(known))).variables())


def amount_of(text: str, values: Values) -> Decimal:
    """Return an amount of at least 0: the text itself, or the result of its expression for these values."""
    if _AMOUNT.fullmatch(text):
        return Decimal(text)
    result = _result(text, values)
    if isinstance(result, int) and not isinstance(result, bool) and 0 <= result < 10**9:
        return Decimal(result)
    if isinstance(result, str) and _AMOUNT.fullmatch(result):
        return Decimal(result)
    if isinstance(result, float):
        raise ExpressionError(f'the result {result} is a binary fraction, which is not exact: write "{result}"')
    raise ExpressionError(f'the result {str(result)[:40]!r} is not an amount: use a string such as "0.05"')


def is_true(text: str, values: Values) -> bool:
    """Return whether a condition is true for these values."""
    result = _result(text, values)
    if not isinstance(result, bool):
        raise ExpressionError(f"the result {str(result)[:40]!r} is neither true nor false")
    return result


def _result(text: str, values: Values) -> object:
    program = _compile(text, tuple(sorted(values)))
    try:
        result: object = program.execute(dict(values))
    except Exception as error:  # the library raises many kinds
        raise ExpressionError(f"it cannot be computed: {_why_not(error)}") from None
    return result


@lru_cache(1000)
def _compile(text: str, known: Collection[str]) -> cel.Program:
    if len(text) > LENGTH_MAX:
        raise ExpressionError(f"the expression is longer than {LENGTH_MAX} characters")
    if loop := _LOOP.search(text):
        raise ExpressionError(f"{loop.group(1)}() is not available here")
    # cel also imports a command line, which takes a third of the time of all settings. Most programs compile nothing.
    import cel

    try:
        program = cel.compile(text)
    except Exception as error:
        raise ExpressionError(f"it cannot be read: {_error_place(error)}") from None
    if unknown := sorted(set(program.variables()) - set(known)):
        raise ExpressionError(f"{', '.join(unknown)} is not known here; known are {', '.join(sorted(known))}")
    return program


def _error_place(error: Exception) -> str:
    """Describe the first place that the parser rejects, without its token names."""
    found = _SYNTAX.search(str(error))
    if found is None:
        return "the parser takes it for no expression"
    place, what = found.groups()
    word = _QUOTED.search(what)
    if word is not None and what.startswith("missing"):
        return f"{word[0]} is missing at character {place}"
    if what.startswith("mismatched input '<EOF>'"):
        return "it ends too early"
    return f"{'' if word is None else f'{word[0]} is '}not expected at character {place}"


def _why_not(error: Exception) -> str:
    operation = _OPERATION.search(str(error))
    if operation is None:
        return "an operator or a function gets a value of a type that it does not take"
    return (
        f"{operation[1]} is not possible: both sides must be of one type; convert with int(x), double(x) or string(x)"
    )
