"""Types of columns, their allowed comparisons, and the same in Spark SQL."""

from __future__ import annotations

import pytest

from zoe_lib.pushdown.column_types import ColumnType, date_of, day_of_time, mismatches, type_of
from zoe_lib.pushdown.predicate import parse
from zoe_lib.pushdown.spark_sql import expression


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("STRING", "string"), ("bigint", "long"), ("integer", "int"), (" real ", "float"), ("tinyint", "byte"),
        ("decimal(10, 2)", "decimal(10,2)"), ("Decimal(38,38)", "decimal(38,38)"),
        ("decimal", None), ("decimal(39,1)", None), ("decimal(2,3)", None), ("decimal(0,0)", None), ("text", None),
        ("array<int>", None), ("int; drop", None), ("", None),
    ],
)  # fmt: skip
def test_types_have_the_names_of_spark(name: str, type_: str | None) -> None:
    assert (str(found) if (found := type_of(name)) else None) == type_


NAMED = {
    "id": "long",
    "kwh": "double",
    "day": "date",
    "at": "timestamp",
    "on": "boolean",
    "city": "string",
    "heat": "float",
    "floor": "byte",
}
TYPES = {name: known for name, type_ in NAMED.items() if (known := type_of(type_))}
TYPES["price"] = ColumnType("decimal", 38, 10)
TYPES["tax"] = ColumnType("decimal", 5, 2)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("id = '5'", "id has the type long: compare it with a number"),
        ("kwh > '5'", "kwh has the type double: compare it with a number"),
        ("not (day > 5)", "day has the type date: compare it with a date such as '2015-01-31'"),
        ("day > '2015-1-31'", "day has the type date"),
        ("day > '2015-02-29'", "day has the type date"),
        ("at > '2015-01-31 25:00:00'", "at has the type timestamp"),
        ("at > '2015-01-31 12:00:00Z'", "without a zone"),
        ("on = 1", "on has the type boolean"),
        ("on < 'true'", "on has the type boolean"),
        (
            "id = 1 or price = 12345678901234567890123456789.5",
            "price has the type decimal(38,10): the number has too many digits",
        ),
        ("id > 1e-19", "too many digits"),
        ("id < 9223372036854775808", "it holds -9223372036854775808 to 9223372036854775807"),
        ("floor > -129", "floor has the type byte: it holds -128 to 127"),
        ("tax >= 1000", "tax has the type decimal(5,2): it has 3 digits before the point"),
        ("heat = 0.1", "no number in single precision equals 0.1; use the type double"),
        ("heat != 1e39", "no number in single precision"),
        ("city = 9007199254740993", "city has the type string: it is compared in double precision"),
        ("other > 9007199254740993", "other has no type: it is compared in double precision"),
    ],
)
def test_a_comparison_that_a_type_does_not_allow_is_told(where: str, words: str) -> None:
    [sentence] = mismatches(parse(where), TYPES)
    assert words in sentence


def test_allowed_comparisons_have_no_mismatch() -> None:
    where = "id > 1.5 and kwh < 1e300 and day = '2016-02-29' and at > '2015-01-31T12:00:00.5' and on != 'TRUE'"
    where += " and heat = 0.5 and heat < 0.1 and heat > 1e39 and kwh = 9007199254740993 and other = -9007199254740992"
    assert not list(mismatches(parse(f"{where} and city > 5 and city = 'x' and other = 5 and day is null"), TYPES))
    assert (date_of("2015-02-29"), day_of_time("2015-02-29 12:00:00"), date_of("0000-01-01")) == (None, None, None)


@pytest.mark.parametrize(
    ("where", "sql"),
    [
        ("id > 1600000000000000003", "(`id` > 1600000000000000003BD)"),
        ("price <= -1.50", "(`price` <= -1.50BD)"),
        ("kwh >= 1e22", "(`kwh` >= 1e+22D)"),
        ("day != '2015-01-31'", "(`day` != DATE'2015-01-31')"),
        ("at < '2015-01-31'", "(`at` < TIMESTAMP'2015-01-31')"),
        ("on = 'True'", "(`on` = TRUE)"),
        ("city = 'Nice'", "(`city` = 'Nice')"),
        ("city = 'it''s'", "(`city` = CAST(X'69742773' AS STRING))"),
        ("city > 5", "(TRY_CAST(`city` AS DOUBLE) > 5.0D)"),
        ("not (a is null or b = 'x')", "(NOT ((`a` IS NULL) OR (`b` = 'x')))"),
        ("`it``s` = 'x'".replace("``", ""), "(`its` = 'x')"),
    ],
)
def test_where_in_spark_sql(where: str, sql: str) -> None:
    assert expression(parse(where), TYPES) == sql
