"""Where fields are found many at once is where they are when lines are read one by one, whatever the bytes."""

from __future__ import annotations

import random
from itertools import product

import pytest

from storage_filters.csv.layout import Lines, lay_out
from storage_filters.csv.parser import is_blank, values_of
from storage_filters.csv.selection import CsvFormat
from tests.support.checks import CHECKS

PER_CASE = 500
FORMATS = (CsvFormat(), CsvFormat(delimiter=";", quote="'", escape="^"), CsvFormat(quote="'", escape="'"))

SIGNS = [b"a", b"a", b",", b",", b";", b'"', b'"', b"'", b"'", b"\\", b"^", b"\r", b"\n", b"\0"]
FULL_FIELDS = [b"", b"a", b'"a"', b'"a,a"', rb'"a\"a"', rb'"\\"']


def check_fields(data: bytes, lines: Lines, columns: int, csv: CsvFormat) -> None:
    """Missing fields are empty, surplus ones are not looked at."""
    raw, meant = (
        [[part.tolist() for part in find(column)] for column in range(columns)] for find in (lines.field, lines.value)
    )
    values = lines.values.tobytes()
    for i, (start, end) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
        line = data[start:end]
        texts = [value or b"" for value in (values_of(line, csv) + [None] * columns)[:columns]]
        assert [values[first[i] : last[i]] for first, last in meant] == texts, f"{line!r} of {data!r}"
        # As it is written a field means the same in any other place.
        for (first, last), text in zip(raw, texts, strict=True):
            field, delimiter = data[first[i] : last[i]], csv.delimiter.encode()
            for place, cut in enumerate((field, b"x" + delimiter + field, field + delimiter + b"x")):
                found = [value or b"" for value in values_of(cut, csv)] if not is_blank(cut) else [b""]
                assert found == [[text], [b"x", text], [text, b"x"]][place] or is_blank(field), (field, line)


@pytest.mark.parametrize("csv", FORMATS)
def test_every_line_of_a_few_signs_is_read_as_a_reader_reads_it_or_left_to_one(csv: CsvFormat) -> None:
    signs = [b"a", *(sign.encode() for sign in sorted({csv.delimiter, csv.quote, csv.escape}))]
    every = [b"".join(line) for length in range(1, 8) for line in product(signs, repeat=length)]
    every = [line for line in every if not is_blank(line)]
    data = b"\n".join(every)
    lines, others = lay_out(data, 2, csv, 2)
    check_fields(data, lines, 2, csv)
    left = [data[start:end] for start, end in others]
    assert len(lines.starts) + len(left) == len(every)
    # The rest has quotes that Spark takes for text, or that are never closed.
    assert len(left) < 0.6 * len(every)


@pytest.mark.parametrize("first_seed", range(0, 20 * CHECKS, PER_CASE))
def test_regular_lines_have_the_fields_and_values_that_a_reader_finds(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        chance = random.Random(seed)
        signs = chance.sample(SIGNS, chance.randint(1, len(SIGNS)))
        data = b"".join(chance.choices(signs, k=chance.randint(1, chance.choice([5, 20, 40]))))
        columns = chance.randint(1, 4)
        check_regular(data, columns, chance.randint(0, columns), chance.choice(FORMATS))


def check_regular(data: bytes, columns: int, asked: int, csv: CsvFormat) -> None:
    lines, others = lay_out(data, columns, csv, asked)
    check_fields(data, lines, asked, csv)
    ranges = [*zip(lines.starts.tolist(), lines.ends.tolist(), strict=True), *others]
    expected = [line for line in data.split(b"\n") if not is_blank(line)]
    assert [data[start:end] for start, end in sorted(ranges)] == expected, (data, columns, asked, csv)


@pytest.mark.parametrize("first_seed", range(0, 4 * CHECKS, PER_CASE))
def test_lines_with_as_many_fields_as_columns_on_average_are_read_as_any(first_seed: int) -> None:
    """Where all lines have the delimiters that they should, and where only their number is right."""
    for seed in range(first_seed, first_seed + PER_CASE):
        chance = random.Random(seed)
        rows = [
            chance.choices(FULL_FIELDS, k=chance.choice([3, 3, 3, 2, 4]))
            for _ in range(chance.randint(1, chance.choice([2, 5, 15])))
        ]
        data, asked = b"".join(b",".join(row) + b"\n" for row in rows), chance.randint(0, 3)
        lines, others = lay_out(data, 3, CsvFormat(), asked)
        check_fields(data, lines, asked, CsvFormat())
        assert (len(lines.starts), others) == (len(rows), [])


def test_lines_whose_quotes_can_be_told_are_regular_and_others_are_not() -> None:
    quoted = [b'"a,b",c', b'c,",,"', b'"",""', b'"a","b"', rb'"a\"",c', rb'"\\","\""']
    regular = [*quoted, b"a,", rb"\,b", b'a"b,c', b"a", b"a,b,c"]
    others = [b'"a""b",c', rb'"a\",c', b'"a"b,c', b'"a,b', b'",","', b'a"b,"c"', b'"",a""', b'"""', b"\0,a"]
    lines, left = lay_out(b"\n".join(regular + others), 2, CsvFormat(), 2)
    assert (len(lines.starts), len(left)) == (len(regular), len(others))
