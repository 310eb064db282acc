"""The names of columns, as the proxy and the storage controller read them from a header."""

from __future__ import annotations

import pytest

from storage_filters.csv_header import header_names
from storage_filters.selection import CsvFormat, SelectionError


@pytest.mark.parametrize("header", [b"a,A,c\n", b"a,b,a\n"])
def test_names_that_spark_would_change_are_refused(header: bytes) -> None:
    with pytest.raises(SelectionError, match="one name"):
        header_names(header, CsvFormat(header=True))


def test_columns_without_a_name_are_called_by_their_place() -> None:
    assert header_names(b"a,,\n1,2,3\n", CsvFormat(header=True)) == ("a", "_c1", "_c2")
