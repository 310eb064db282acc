"""Lists that steps have made: read completely or not at all, and the error names the invalid entry."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from zoe_client.vocabulary import ListProblem
from zoe_lib.domain.applications.entries import (
    ENTRIES_MAX,
    ENTRY_LENGTH_MAX,
    FIELDS_MAX,
    FILLED_BYTES_MAX,
    LIST_BYTES_MAX,
    EntryUse,
    use_of,
)
from zoe_lib.domain.applications.entry_reading import ListRefused, read_entries

NOTHING = EntryUse()
WHOLE = use_of(["--part={each:part}"])


def refused(content: bytes | str, use: EntryUse = WHOLE, count_max: int = ENTRIES_MAX) -> ListRefused:
    with pytest.raises(ListRefused) as found:
        read_entries(content.encode() if isinstance(content, str) else content, use, count_max)
    assert found.value.hint
    return found.value


@pytest.mark.parametrize("entries", [[], ["a"], ["a b", "ü", 3, 0.5, True, False, -1, ""], list(range(ENTRIES_MAX))])
def test_values_come_back_in_their_order(entries: list[Any]) -> None:
    found = read_entries(json.dumps(entries).encode(), WHOLE)
    assert [(entry, type(entry)) for entry in found] == [(entry, type(entry)) for entry in entries]


def test_objects_have_the_fields_that_the_step_uses_and_may_have_more() -> None:
    use = use_of(["{each:part.name}", "{each:part.rows}"])
    entries = [{"name": "a", "rows": 3, "more": True}, {"rows": 0, "name": "b"}]
    assert list(read_entries(json.dumps(entries).encode(), use)) == entries


@pytest.mark.parametrize(
    ("content", "problem", "words"),
    [
        (b"", ListProblem.NOT_JSON, "line 1, column 1"),
        (b'["a",]', ListProblem.NOT_JSON, "column 6"),
        (b'["a\tb"]', ListProblem.NOT_JSON, "Invalid control character in line 1"),
        (b"\xef\xbb\xbf[]", ListProblem.NOT_JSON, "not JSON"),
        (b"[" * 500_000, ListProblem.NOT_JSON, "nested too deeply"),
        (b'["\xff"]', ListProblem.NOT_UTF8, "byte 2"),
        (b'{"a": 1}', ListProblem.NOT_A_LIST, "an object, not a list"),
        (b"NaN", ListProblem.NOT_A_LIST, "NaN"),
        (b"null", ListProblem.NOT_A_LIST, "null"),
        (b" " * (LIST_BYTES_MAX + 1), ListProblem.TOO_LARGE, f"more than {LIST_BYTES_MAX} bytes"),
        (b"[0, NaN]", ListProblem.BAD_ENTRY, "entry 1 of the list is NaN"),
        (b"[0, -Infinity]", ListProblem.BAD_ENTRY, "entry 1 of the list is -Infinity"),
        (b"[1e999]", ListProblem.BAD_ENTRY, "entry 0 of the list is the number '1e999'"),
        (b"[" + b"9" * 5000 + b"]", ListProblem.BAD_ENTRY, "entry 0 of the list is a number beyond"),
        (b'["a", null]', ListProblem.BAD_ENTRY, "entry 1 of the list is null"),
        (b'["a", ["b"]]', ListProblem.BAD_ENTRY, "entry 1 of the list is a list"),
        (b'["a", {"b": 1}]', ListProblem.BAD_ENTRY, "entry 1 of the list is an object, but entry 0 is a value"),
        (b'["a\\u0000"]', ListProblem.BAD_ENTRY, "no command may have"),
        (b'["\\ud800"]', ListProblem.BAD_ENTRY, "no command may have"),
    ],
)
def test_content_that_is_no_list_of_values_is_refused(content: bytes, problem: ListProblem, words: str) -> None:
    found = refused(content)
    assert (found.problem, words in str(found)) == (problem, True), str(found)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[{"a": 1}, {"a": 1, "a": 2}]', "entry 1 of the list is an object with the field 'a' twice"),
        ('[{"a": {"b": 1}}]', "has 'a': an object"),
        ('[{"a": NaN}]', "has 'a': NaN"),
        ('[{"": 1}]', "has the field ''"),
        ('[{"a.b": 1}]', "has the field 'a.b'"),
        ('[{"a": 1}, {"b": 1}]', "entry 1 of the list has no field 'a'"),
        (json.dumps([{f"f{n}": n for n in range(FIELDS_MAX + 1)}]), f"the maximum is {FIELDS_MAX}"),
        ("[1]", "entry 0 of the list is a number, and the step uses its field 'a'"),
    ],
)
def test_objects_that_the_step_cannot_use_are_refused(content: str, words: str) -> None:
    found = refused(content, use_of(["{each:part.a}"]))
    assert (found.problem, words in str(found)) == (ListProblem.BAD_ENTRY, True), str(found)


def test_an_object_is_no_value() -> None:
    assert "uses it as a value" in str(refused('[{"a": 1}]'))


def test_bounds_hold_at_the_entry() -> None:
    assert read_entries(json.dumps(["x" * ENTRY_LENGTH_MAX]).encode(), WHOLE)
    assert "4097 characters" in str(refused(json.dumps(["", "x" * (ENTRY_LENGTH_MAX + 1)])))
    assert read_entries(b"[1, 2]", WHOLE, 2)
    assert refused(b"[1, 2, 3]", WHOLE, 2).problem is ListProblem.TOO_MANY
    times, rest = divmod(FILLED_BYTES_MAX, ENTRY_LENGTH_MAX)
    use = EntryUse({"": times}, rest)
    assert read_entries(json.dumps(["x" * ENTRY_LENGTH_MAX]).encode(), use)
    longer = EntryUse({"": times}, rest + 1)
    assert "entry 0 of the list is too long" in str(refused(json.dumps(["x" * ENTRY_LENGTH_MAX]), longer))


def test_a_hostile_list_costs_as_much_as_its_size() -> None:
    """Fields are compared in one pass: half a million with one of them twice would take minutes in pairs."""
    fields = ",".join(f'"{n}":0' for n in range(150_000))
    began_s = time.process_time()
    assert "twice" in str(refused("[{" + fields + ',"149999":1}]'))
    assert time.process_time() - began_s < 5


def test_the_use_of_an_entry_counts_what_is_filled_in() -> None:
    found = use_of(["{each:p.a}x{each:p.a}", "{index}", "{{each:p.a}}", "{each:p.b}"])
    assert (dict(found.counts), found.fixed_bytes, found.fields) == ({"a": 2, "b": 1}, 1, {"a", "b"})
