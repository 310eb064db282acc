"""Where fields are found many at once is where they are when lines are read one by one, whatever the bytes."""

from __future__ import annotations

import os
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage_bridge.swift.csv_layout import Lines, laid_out
from storage_bridge.swift.csv_line import MalformedRecordError, raw_fields, text_of
from storage_bridge.swift.selection import CsvFormat

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "2000"))
FORMATS = (CsvFormat(), CsvFormat(delimiter=";", quote="'", escape="^"), CsvFormat(quote="'", escape="'"))

signs = [b"a", b"a", b",", b",", b";", b'"', b'"', b"'", b"'", b"\\", b"^", b"\r", b"\n", b"\0"]
block = st.lists(st.sampled_from(signs), min_size=1)
full_field = st.sampled_from([b"", b"a", b'"a"', b'"a,a"', b'"a""a"', rb'"\\"'])
row = st.sampled_from([3, 3, 3, 2, 4]).flatmap(lambda fields: st.lists(full_field, min_size=fields, max_size=fields))


def check_fields(data: bytes, lines: Lines, columns: int, csv: CsvFormat) -> None:
    """Missing fields are empty, surplus ones are not looked at."""
    raw, meant = (
        [[part.tolist() for part in find(column)] for column in range(columns)] for find in (lines.field, lines.value)
    )
    values = lines.values.tobytes()
    for i, (start, end) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
        fields = (raw_fields(data[start:end], csv) + [b""] * columns)[:columns]
        assert [data[first[i] : last[i]] for first, last in raw] == fields
        assert [values[first[i] : last[i]] for first, last in meant] == [text_of(field, csv) or b"" for field in fields]


@pytest.mark.parametrize("csv", FORMATS)
def test_every_line_of_a_few_signs_is_read_as_a_reader_reads_it_or_left_to_one(csv: CsvFormat) -> None:
    signs = [b"a", *(sign.encode() for sign in sorted({csv.delimiter, csv.quote, csv.escape}))]
    every = [b"".join(line) for length in range(1, 8) for line in product(signs, repeat=length)]
    data = b"\n".join(every)
    lines, others = laid_out(data, 2, csv, 2)
    check_fields(data, lines, 2, csv)
    left = [data[start:end] for start, end in others]
    assert len(lines.starts) + len(left) == len(every)
    malformed = 0
    for line in left:
        try:
            raw_fields(line, csv)
        except MalformedRecordError:
            malformed += 1
    # What is left and can be read has quotes in plain fields beside quoted ones.
    assert len(left) - malformed < len(every) / 10


@settings(max_examples=5 * CHECKS)
@given(block.map(b"".join), st.integers(1, 4), st.integers(0, 4), st.sampled_from(FORMATS))
def test_regular_lines_have_the_fields_and_values_that_a_reader_finds(
    data: bytes, columns: int, asked: int, csv: CsvFormat
) -> None:
    asked = min(asked, columns)
    lines, others = laid_out(data, columns, csv, asked)
    check_fields(data, lines, asked, csv)
    ranges = [*zip(lines.starts.tolist(), lines.ends.tolist(), strict=True), *others]
    all_lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    assert [data[start:end] for start, end in sorted(ranges)] == [line for line in all_lines if line]


@settings(max_examples=CHECKS)
@given(
    st.lists(
        st.sampled_from([3, 3, 3, 2, 4]).flatmap(lambda n: st.lists(full_field, min_size=n, max_size=n)), min_size=1
    ),
    st.integers(0, 3),
)
def test_lines_with_as_many_fields_as_columns_on_average_are_read_as_any(rows: list[list[bytes]], asked: int) -> None:
    """Where all lines have the delimiters that they should, and where only their number is right."""
    data = b"".join(b",".join(row) + b"\n" for row in rows)
    lines, others = laid_out(data, 3, CsvFormat(), asked)
    check_fields(data, lines, asked, CsvFormat())
    assert (len(lines.starts), others) == (len(rows), [])


def test_lines_whose_quotes_can_be_told_are_regular_and_others_are_not() -> None:
    quoted = [b'"a,b",c', b'c,",,"', b'"",""', b'"a","b"', b'"a""b",c', rb'"a\"",c', rb'"\\","\""']
    regular = [*quoted, b"a,", rb"\,b", b'a"b,c', b"a", b"a,b,c"]
    others = [rb'"a\",c', b'"a"b,c', b'"a,b', b'",","', b'a"b,"c"', b'"",a""', b'"""', b"\0,a"]
    lines, left = laid_out(b"\n".join(regular + others), 2, CsvFormat(), 2)
    assert (len(lines.starts), len(left)) == (len(regular), len(others))
