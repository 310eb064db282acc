"""The names of columns, as the proxy and the storage controller read them from a header."""

from __future__ import annotations

import pytest

from storage_filters.csv.header import header_names
from storage_filters.csv.selection import CsvFormat, SelectionError


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"id,kwh,KWH\n", "columns kwh and KWH of the header differ only in case"),
        (b"a,b,a\n", "column a appears twice in the header"),
        (b"x" * 5000 + b"," + b"x" * 5000, f"column {'x' * 40} appears twice"),
    ],
)
def test_names_that_spark_would_change_are_refused_and_named(header: bytes, why: str) -> None:
    with pytest.raises(SelectionError, match=why) as refused:
        header_names(header, CsvFormat(header=True))
    assert "csv.names" in str(refused.value)
    assert len(str(refused.value)) < 300


def test_columns_without_a_name_are_called_by_their_place() -> None:
    assert header_names(b"a,,\n1,2,3\n", CsvFormat(header=True)) == ("a", "_c1", "_c2")
