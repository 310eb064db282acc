"""Translate the `where` of a pushdown to an expression of Spark SQL with the same meaning for columns of these
types.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from zoe_lib.pushdown.column_types import ColumnType
from zoe_lib.pushdown.predicate import And, Comparison, IsNull, Not, Or, Predicate

_STRING = ColumnType("string")


def expression(predicate: Predicate, types: Mapping[str, ColumnType]) -> str:
    """Return the expression; a column without a type is a string. Literals have the types that make
    comparisons exact."""
    match predicate:
        case Comparison(column=column):
            return _comparison(predicate, types.get(column, _STRING))
        case IsNull(column=column):
            return f"({_name(column)} IS NULL)"
        case Not(term=term):
            return f"(NOT {expression(term, types)})"
        case And(terms=terms):
            return f"({' AND '.join(expression(term, types) for term in terms)})"
        case Or(terms=terms):
            return f"({' OR '.join(expression(term, types) for term in terms)})"


def _comparison(test: Comparison, type_: ColumnType) -> str:
    name = _name(test.column)
    if isinstance(test.literal, Decimal):
        if type_.kind == "string":
            name = f"TRY_CAST({name} AS DOUBLE)"
        exact = type_.is_integer or type_.kind == "decimal"
        literal = f"{test.literal:f}BD" if exact else f"{float(test.literal)!r}D"
    else:
        literal = _literal(test.literal, type_)
    return f"({name} {test.operator} {literal})"


def _literal(text: str, type_: ColumnType) -> str:
    match type_.kind:
        case "date":
            return f"DATE'{text}'"
        case "timestamp":
            return f"TIMESTAMP'{text}'"
        case "boolean":
            return text.upper()
        case _:
            if "'" in text or "\\" in text:  # a setting of Spark decides how these are escaped
                return f"CAST(X'{text.encode().hex()}' AS STRING)"
            return f"'{text}'"


def _name(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"
