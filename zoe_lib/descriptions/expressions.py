"""Evaluate arithmetic in framework files: `$(core_workers + elastic_workers)` over the framework's parameters.

It has numbers, texts, names, + - * / // and ceil, min, max: enough for counts and heap sizes, with bounded work.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

_INNER = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"  # parentheses to depth two
_PIECE = re.compile(rf"\$\$\(|\$\(({_INNER})\)|\$\(")
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"ceil": math.ceil, "min": min, "max": max}


class ExpressionError(ValueError):
    """An expression in a framework file that cannot be computed."""


def substitute(value: object, values: Mapping[str, object]) -> object:
    """Return a copy of a JSON value with every `$(...)` computed; `$$(` is a literal `$(`.

    In lists and environments, which hold texts, computed numbers become texts; a list within a list is spliced.
    """
    if isinstance(value, dict):
        computed = {key: substitute(item, values) for key, item in value.items()}
        environment = computed.get("environment")
        if isinstance(environment, dict):
            computed["environment"] = {key: _as_text(item) for key, item in environment.items()}
        return computed
    if isinstance(value, list):
        return [part for item in value for part in _splice_lists(item, values)]
    return _substitute_text(value, values) if isinstance(value, str) else value


def _splice_lists(item: object, values: Mapping[str, object]) -> list[object]:
    computed = substitute(item, values)
    if not isinstance(item, str):
        return [computed]
    return computed if isinstance(computed, list) else [_as_text(computed)]


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _substitute_text(text: str, values: Mapping[str, object]) -> object:
    whole = _PIECE.fullmatch(text)
    if whole and whole[1] is not None:
        return evaluate(whole[1], values)
    return _PIECE.sub(lambda piece: _replacement(piece, values), text)


def _replacement(piece: re.Match[str], values: Mapping[str, object]) -> str:
    if piece[1] is not None:
        return str(evaluate(piece[1], values))
    if piece[0] == "$(":
        raise ExpressionError(f"an expression is not closed in {piece.string!r}")
    return "$("


def evaluate(expression: str, values: Mapping[str, object]) -> object:
    """Return the value of an expression, whole numbers as int; ExpressionError if it contains anything else."""
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body, values)
        return int(value) if isinstance(value, float) and value.is_integer() else value
    except (SyntaxError, TypeError, ZeroDivisionError, OverflowError) as error:
        raise ExpressionError(f"cannot compute {expression!r}: {error}") from None


def _value(node: ast.expr, values: Mapping[str, object]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as constant):
            return constant
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, values) for argument in args))
    raise ExpressionError(f"cannot compute {ast.unparse(node)!r}")
