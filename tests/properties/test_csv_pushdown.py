"""Selected records are those of a slow reference, byte by byte, for any data, splits and chunks."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from storage_bridge.swift.csv_stream import first_byte, selected
from storage_bridge.swift.selection import CsvFormat, Selection
from tests.support.csv_reference import reference

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "2000"))
NAMES = ("a", "b", "c")
SIGNS: dict[str, Callable[[object, object], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
Keep = Callable[[dict[str, str | None]], bool]

plain = st.sampled_from(
    ["", "", "x", "Nice", "Nic", "Nicee", "5", "-5.0", "+.5e1", "1-2", "e5", "nan", "1_0", " 5", "é"]
)
doubled = st.sampled_from(['"a""b"', '""""', '"""Nice"""', '"x,""y"', '"5"""', '""",""5"', '"""""Nice"""""'])
escaped = st.sampled_from(['"a\\"b"', '"\\\\"', '"\\\\\\"Nice"', '"\\x"', '"a\\",""b"', '"\\,\\\\"', "\\", "\\5"])
in_plain = st.sampled_from(['5"', 'a"b', "5' 6\"", 'Nice""', 'x\\"y'])
simply_quoted = st.one_of(plain, plain.map(lambda text: f'"{text}"'), st.sampled_from(['"x,y"', '"Nice, 5"', '",,"']))
odd = st.sampled_from(['""', '"x\r"', "\0"])
# By the character that escapes: with the quote itself nothing else does.
FIELDS = {
    "\\": [plain, simply_quoted, st.one_of(plain, doubled), st.one_of(plain, escaped), st.one_of(plain, in_plain)],
    '"': [plain, simply_quoted, st.one_of(plain, doubled), st.one_of(plain, in_plain)],
}


def lines_of(fields: Sequence[st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    """Mostly of one kind of fields each, with as many of them as there are columns, or about as many."""
    whole = [st.lists(kind, min_size=3, max_size=3) for kind in fields]
    ragged = [st.lists(kind, min_size=1, max_size=5) for kind in (*fields, st.one_of(*fields, odd))]
    return st.one_of(*whole, *ragged).map(",".join)


def documents(escape: str) -> st.SearchStrategy[tuple[list[tuple[str, str]], str, bool]]:
    line = lines_of(FIELDS[escape])
    whole = st.tuples(line, st.sampled_from(["\n", "\n", "\r\n"]))
    return st.tuples(st.lists(whole, max_size=30), line, st.booleans())


def known(column: str, sign: str, literal: float | str) -> Callable[[dict[str, str | None]], bool | None]:
    def test(values: dict[str, str | None]) -> bool | None:
        value = values[column]
        if value is None:
            return None
        if isinstance(literal, str):
            return SIGNS[sign](value.encode("latin-1"), literal.encode())
        return SIGNS[sign](float(value), literal) if NUMBER.fullmatch(value) else None

    return test


@st.composite
def predicates(draw: st.DrawFn) -> tuple[str, Keep]:
    tests, texts = [], []
    for _ in range(draw(st.integers(1, 3))):
        column, sign = draw(st.sampled_from(NAMES)), draw(st.sampled_from(sorted(SIGNS)))
        literal = draw(st.sampled_from(["Nice", "5", 5.0, -1.5, "", "x,y", "é", 'a"b', '"Nice"', '"', "\\\\", '5"']))
        texts.append(f"{column} {sign} " + (f"'{literal}'" if isinstance(literal, str) else repr(literal)))
        tests.append(known(column, sign, literal))
    negative, joint = draw(st.booleans()), draw(st.sampled_from(["and", "or"]))
    text = f" {joint} ".join(texts)

    def keep(values: dict[str, str | None]) -> bool:
        found = {test(values) for test in tests}
        decisive = joint == "or"
        result = decisive if decisive in found else None if None in found else not decisive
        return result is not None and result != negative

    return (f"not ({text})" if negative else text), keep


def cut(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(data[at : at + size])
        at += size
    return [*chunks, data[at:]]


@settings(max_examples=CHECKS)
@given(st.data(), st.sampled_from([(), ("b",), ("c", "a"), ("a", "b", "c")]), st.booleans(), st.sampled_from('\\"'))
def test_ranges_together_give_each_record_once_as_the_reference_does(
    data: st.DataObject, columns: tuple[str, ...], header: bool, escape: str
) -> None:
    lines, last, ends = data.draw(documents(escape))
    csv = CsvFormat(header=header, escape=escape)
    text = ("a,b,c\n" if header else "") + "".join("".join(one) for one in lines) + ("" if ends else last)
    body = text.encode()
    where, keep = data.draw(st.one_of(st.just(("", lambda _: True)), predicates()))
    borders = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=4)))
    ranges = list(zip([0, *borders], [*borders, None], strict=True))
    together = b""
    for start, end in ranges:
        selection = Selection(NAMES, columns, where, start, end, csv)
        stream = body[first_byte(selection) :]
        chunks = cut(stream, data.draw(st.lists(st.integers(1, 40), max_size=10)))
        found = b"".join(selected(chunks, selection))
        assert found == reference(body, selection, keep)
        together += found
    whole = Selection(NAMES, columns, where, csv=csv)
    assert together == b"".join(selected([body], whole))
