"""Records found for many lines at once equal those found for each alone, for any data, types, splits and chunks.

`tests/storage/test_reference.py` compares single lines with Spark itself.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from storage_filters.csv.parser import Value, is_blank, values_of
from storage_filters.csv.readings import possible_outcomes
from storage_filters.csv.selection import CsvFormat, Selection
from storage_filters.csv.stream import first_byte, select_records
from tests.support.checks import CHECKS
from tests.support.csv_cases import NAMES, random_predicate, random_text, random_types

PER_CASE = 500


def cut(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(data[at : at + size])
        at += size
    return [*chunks, data[at:]]


def one_by_one(data: bytes, selection: Selection) -> list[list[Value]]:
    """The wanted values of records that begin in the range and may be wanted."""
    found, at, with_header = [], 0, selection.csv.header
    end = len(data) if selection.end is None else selection.end
    while at < len(data):
        feed = data.find(b"\n", at)
        behind = len(data) if feed < 0 else feed + 1
        text = data[at:behind].removeprefix(b"" if at else b"\xef\xbb\xbf")
        lines = [line for line in text.splitlines() if not is_blank(line)]
        if with_header and lines:
            lines, with_header = lines[1:], False
        if selection.start <= at < end:
            found += [values for line in lines if (values := kept(line, selection)) is not None]
        at = behind
    return found


def kept(line: bytes, selection: Selection) -> list[Value] | None:
    values = [meant(value, selection.csv) for value in values_of(line, selection.csv)]
    values = (values + [None] * len(selection.names))[: len(selection.names)]
    named = dict(zip(selection.names, values, strict=True))
    if selection.predicate and not possible_outcomes(selection.predicate, named, selection.column_types).true:
        return None
    return [values[column] for column in selection.wanted_positions]


def delivered(text: bytes, selection: Selection) -> list[list[Value]]:
    csv, width = selection.csv, len(selection.wanted_positions)
    rows = [[meant(value, csv) for value in values_of(line, csv)] for line in text.split(b"\n") if not is_blank(line)]
    return [(row + [None] * width)[:width] for row in rows]


def meant(value: Value, csv: CsvFormat) -> Value:
    return None if value == csv.null_text.encode() else value


@pytest.mark.parametrize("first_seed", range(0, 8 * CHECKS, PER_CASE))
def test_ranges_together_give_each_record_once(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        check(seed)


def check(seed: int) -> None:
    chance = random.Random(seed)
    csv = CsvFormat(
        header=chance.random() < 0.5,
        escape=chance.choice('\\"'),
        delimiter=chance.choice(",,,,\t"),
        null_text=chance.choice(["", "", "x"]),
    )
    types = random_types(chance)
    columns = chance.choice([(), ("b",), ("c", "a"), ("a", "b", "c")])
    body = (("a,b,c\n" if csv.header else "") + random_text(chance, csv.escape)).replace(",", csv.delimiter).encode()
    if chance.random() < 0.2:
        body = body.replace("é".encode(), b"\xe9")
    where = random_predicate(chance, types) if chance.random() < 0.6 else ""
    borders = sorted(chance.randint(0, len(body)) for _ in range(chance.randint(0, 4)))
    together = b""
    for start, end in zip([0, *borders], [*borders, None], strict=True):
        selection = Selection(NAMES, columns, where, start, end, csv, types)
        chunks = cut(body[first_byte(selection) :], [chance.randint(1, 40) for _ in range(chance.randint(0, 10))])
        found = b"".join(select_records(chunks, selection))
        expected = one_by_one(body, selection)
        assert delivered(found, selection) == expected, f"seed {seed}: {selection} of {body!r} in {chunks}"
        together += found
    whole = Selection(NAMES, columns, where, csv=csv, types=types)
    at_once = delivered(b"".join(select_records([body], whole)), whole)
    assert delivered(together, whole) == at_once, f"seed {seed}: {whole} of {body!r}"
