"""Selections in place: wanted columns keep their position, and lines that depend on the reader stay whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_filters.csv.selection import Selection
from storage_filters.csv.stream import select_records

CELLS = (b"", b"1", b"22", b'"a,b"', b'"x""y"', b'x"y', b" ", b'"a\\"b"', b"#", b'"q"#', b"abc", b'"', b"\0")
_FIELD = re.compile(rb'(?:^|,)("[^"]*"|[^,]*)')


def selected(data: bytes, width: int, wanted: tuple[int, ...], where: str = "") -> list[bytes]:
    names = tuple(f"c{position}" for position in range(width))
    selection = Selection(names, tuple(names[position] for position in wanted), where, in_place=True)
    return b"".join(select_records([data], selection)).split(b"\n")[:-1]


@given(st.data(), st.integers(1, 6))
def test_each_line_has_its_wanted_fields_in_place_or_is_whole(data: st.DataObject, width: int) -> None:
    rows = st.lists(st.sampled_from(CELLS), min_size=1, max_size=width + 2)
    lines = [b",".join(row) for row in data.draw(st.lists(rows, min_size=1, max_size=12))]
    wanted = tuple(sorted(data.draw(st.sets(st.integers(0, width - 1), min_size=1))))
    found = selected(b"\n".join(lines), width, wanted)
    kept = [line for line in lines if line and max(line) > 0x20]
    assert len(found) == len(kept)
    for line, narrowed in zip(kept, found, strict=True):
        if narrowed != line:
            assert not (b'"' in line and (b'""' in line or b"\\" in line))
            fields, there = _FIELD.findall(line)[:width], _FIELD.findall(narrowed)
            expected = [field if position in wanted else b"" for position, field in enumerate(fields)]
            longer = max(len(there), len(expected))
            assert there + [b""] * (longer - len(there)) == expected + [b""] * (longer - len(expected))


@pytest.mark.parametrize(
    ("line", "wanted", "expected"),
    [
        (b"1,2,3,4", (1, 3), b",2,,4"),
        (b"1,2,3,4", (0,), b"1"),
        (b",2,3,4", (0,), b",2,3,4"),  # it would be blank
        (b",2,3,4", (2,), b",,3"),
        (b"1,2", (3,), b",,,"),
        (b'"a,b",2,3,4', (1,), b",2"),
        (b'"a""b",2,3,4', (1,), b'"a""b",2,3,4'),
    ],
)
def test_fields_keep_their_positions(line: bytes, wanted: tuple[int, ...], expected: bytes) -> None:
    assert selected(line, 4, wanted) == [expected]


def test_lines_that_depend_on_the_reader_are_delivered_whatever_the_condition_is() -> None:
    data = b'1,a\n2,"x""y"\n3,c\n'
    assert selected(data, 2, (1,), "c0 = 1") == [b",a", b'2,"x""y"']


def test_a_literal_is_looked_for_in_blocks_without_quotes_only() -> None:
    data = b'1,abc\n2,"ab\\"c"\n'
    assert selected(data, 2, (0,), "c1 = 'abc'") == [b"1", b'2,"ab\\"c"']
