"""Selections of JSON lines: wanted fields of lines that may be wanted; lines of which nothing is certain stay whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_filters.csv.json_lines.selection import JsonSelection
from storage_filters.csv.json_lines.stream import select_lines
from storage_filters.csv.selection import SelectionError
from storage_filters.views.requested import selection_requested

VALUES = (
    "0", "-1", "42", "-0", "1.5", "1e3", "1E-2", "9007199254740993", "12345678901234567890", "null", "true", "false",
    '"a"', '"abc"', '""', '"95"', '"\u00e9"', '"\\u00e9"', '"a\\"b"', '"\\\\"', '"x:y,{"', '"2015-01-31"', "[]", "{}",
    '[1, "a", {"a": -3}]', '{"a": {"b": [0.50]}, "c": "d"}', '"\ufeff"', "100.00",
)  # fmt: skip
WRONG = ("", "01", "-", "1.", ".5", "+1", "NaN", "'a'", '"a', 'a"', "[1", '"\\x"', '"\t"', '{"a":1,}', "1 2", "--1",
         "tru", '"\\ud8"', "1e", "[1,]", "00", '{"a":1 "b":2}')  # fmt: skip
NAMES = ("a", "b", "c", "\u00e9")
FIELDS = {"c0": "a", "c2": "\u00e9"}


def selected(data: bytes, **changed: Any) -> list[bytes]:
    return b"".join(select_lines([data], JsonSelection(**{"fields": FIELDS, **changed}))).split(b"\n")[:-1]


@st.composite
def lines(draw: st.DrawFn) -> str:
    values = st.sampled_from(VALUES if draw(st.integers(0, 3)) else (*VALUES, *WRONG))
    colon = draw(st.sampled_from((":", ":", ": ", " : ")))
    pairs = draw(st.lists(st.tuples(st.sampled_from(NAMES), values), max_size=5))
    text = "{" + draw(st.sampled_from((",", ", "))).join(f'"{name}"{colon}{value}' for name, value in pairs) + "}"
    return text if draw(st.integers(0, 9)) else draw(st.sampled_from((text[:-1], text + "x", f"[{text}]", "", " ")))


def strictly(text: str) -> list[tuple[str, Any]]:
    """Return the pairs of an object, numbers as they are written."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    found = json.loads(text, object_pairs_hook=list, parse_int=repr, parse_float=repr, parse_constant=refuse)
    if not isinstance(found, list) or not text.startswith("{"):
        raise ValueError(text)
    return found


@given(st.lists(lines(), min_size=1, max_size=10))
def test_each_line_has_the_values_of_its_wanted_fields_or_is_whole(texts: list[str]) -> None:
    found = selected("\n".join(texts).encode())
    kept = texts if texts[-1] else texts[:-1]
    assert len(found) == len(kept)
    for text, narrowed in zip(kept, found, strict=True):
        if narrowed.decode() == text:
            continue
        pairs = strictly(text)
        names = [name for name, _ in pairs]
        assert all(names.count(name) <= 1 for name in FIELDS.values())
        assert strictly(narrowed.decode()) == [(name, dict(pairs).get(name)) for name in FIELDS.values()]


@pytest.mark.parametrize("wrong", [*WRONG, '{"a":' * 60 + "1" + "}" * 60, "1" * 400])
@pytest.mark.parametrize("line", ['{"a":1,"b":%s}', '{"a":1,"b":[0,%s]}'])
def test_lines_that_are_not_strict_are_whole_whatever_the_condition_is(line: str, wrong: str) -> None:
    if line == '{"a":1,"b":[0,%s]}' and not wrong:
        pytest.skip("the same as [1,]")
    odd = line % wrong
    data = f'{{"b":2,"a":5}}\n{odd}\n{{"a":7,"b":0}}'.encode()
    assert selected(data, where="c0 = 7", types={"c0": "int"}) == [odd.encode(), '{"a":7,"\u00e9":null}'.encode()]


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ('{"b":0,"b":1}', False),
        ('{"a":0,"a":1}', True),
        ('{"b":{"a":0,"a":1}}', False),
        ('{"b" :0}', True),
        ('{"b":\t0}', True),
        ('[{"a":1}]', True),
        ('{"a":"\udce9"}', True),
        ('{"a\\u0062":0}', True),
    ],
)
def test_what_stays_whole(line: str, whole: bool) -> None:
    [found] = selected(line.encode(errors="surrogateescape"))
    assert (found == line.encode(errors="surrogateescape")) == whole


@pytest.mark.parametrize(
    ("where", "type_", "kept"),
    [
        ("c0 > 41", "int", ["42", "12345678901234567890", "1.5", "1e3", '"42"']),
        ("c0 = 42", "double", ["42", '"42"']),
        ("c0 < 42", "decimal(4,1)", ["1.5", "1e1", '"42"']),
        ("c0 = 'x'", "string", ['"x"', '"\\u0078"', "42", "1e3", "[]"]),
        ("c0 >= 'x'", "string", ['"x"', '"\\u0078"', '"y"', "42", "true", "1e3"]),
        ("c0 = '2015-01-31'", "date", ['"2015-01-31"', '"2015-1-31"', "42"]),
        ("c0 = 'true'", "boolean", ["true", '"true"', "1.5"]),
        ("c0 is null", "int", ["null", "1.5", '"x"']),
        ("c0 is null", "date", ["null", '"x"', '"2015-02-30"', "1"]),
        ("c0 is null", "decimal(4,1)", ["null", "10000", '"x"']),
        ("c0 is not null", "string", ["42", '""', "[]"]),
        ("not (c0 is null)", "double", ["42", '"x"', "1.5"]),
    ],
)
def test_a_value_is_left_out_only_if_its_reading_is_certain(where: str, type_: str, kept: list[str]) -> None:
    data = "".join(f'{{"a":{value},"b":0}}\n' for value in ["null", "41", '"w"', *kept]).encode()
    if "is null" in where and "not" not in where:
        data += b'{"b":0}\n'
    found = [
        line.removeprefix(b'{"a":').partition(b',"\xc3')[0].decode()
        for line in selected(data, where=where, types={"c0": type_})
    ]
    for value in kept:
        assert value in found, (where, value)
    certain = {"int": "41", "double": "41", "string": '"w"', "date": "null", "boolean": "null"}
    if "null" not in where and type_ in certain:
        assert certain[type_] not in found


def test_the_range_and_the_request() -> None:
    data = b'\xef\xbb\xbf{"a":1}\r\n{"a":2}\n{"a":3}'
    text = json.dumps({"fields": {"c0": "a"}, "start": 1, "end": 14})
    selection = selection_requested(text)
    assert isinstance(selection, JsonSelection)
    assert b"".join(select_lines([data[:4], data[4:]], selection)) == b'{"a":2}\n'


@pytest.mark.parametrize(
    "wrong",
    [
        {"fields": {}},
        {"fields": {"c0": 'a"'}},
        {"fields": {"c0": "a"}, "width": 1},
        {"fields": ["a"]},
        {"fields": {"c0": "a"}, "where": "c1 = 1"},
        {"fields": {"c0": "a", "c1": "a"}},
    ],
)
def test_wrong_requests_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SelectionError):
        selection_requested(json.dumps(wrong))
