"""Read the list that a step has made: a JSON list of values, or of objects with values as fields.

The list is read completely or not at all: the error names the first invalid entry, and no execution is made.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_client.vocabulary import ListProblem
from zoe_lib.domain.applications.entries import (
    ENTRIES_MAX,
    ENTRY_LENGTH_MAX,
    FIELDS_MAX,
    FILLED_BYTES_MAX,
    LIST_BYTES_MAX,
    Entry,
    EntryUse,
    Scalar,
    text_of,
)

NUMBER_MAX = 2**63 - 1
_DIGITS_MAX = 19
_FIELD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,62}")
_WRITE_A_LIST = "let the step write a JSON list of texts, numbers, true or false, or of objects with such fields"
_MATRIX = "split the list, or give an entry more to do"
_SHOWN_MAX = 40


class ListRefused(ValueError):  # noqa: N818 - the name is the fact
    """A list cannot be used; the message is a sentence for its user, and `hint` a way to correct it."""

    def __init__(self, problem: ListProblem, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.problem = problem
        self.hint = hint


@dataclass(frozen=True, slots=True)
class _InvalidValue:
    """Marks a place in the list with an extension of JSON, or a repeated key; `why` ends a sentence."""

    why: str


def read_entries(content: bytes, use: EntryUse, count_max: int = ENTRIES_MAX) -> tuple[Entry, ...]:
    """Return the entries of a list; ListRefused for the first invalid one."""
    if len(content) > LIST_BYTES_MAX:
        sentence = f"the list has more than {LIST_BYTES_MAX} bytes"
        raise ListRefused(ListProblem.TOO_LARGE, sentence, "write names or numbers of the parts, not the parts")
    found = _parse(content)
    if not isinstance(found, list):
        sentence = f"the result is {_kind(found)}, not a list"
        raise ListRefused(ListProblem.NOT_A_LIST, sentence, _WRITE_A_LIST)
    if len(found) > count_max:
        sentence = f"the list has {len(found)} entries; the maximum is {count_max}"
        raise ListRefused(ListProblem.TOO_MANY, sentence, _MATRIX)
    return tuple(_entry(number, entry, isinstance(found[0], dict), use) for number, entry in enumerate(found))


def _parse(content: bytes) -> Any:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        sentence = f"the list is not UTF-8: byte {error.start} is not part of a character"
        raise ListRefused(ListProblem.NOT_UTF8, sentence, "write it as UTF-8") from None
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=lambda name: _InvalidValue(f"{name}, which JSON does not have"),
            parse_int=_integer,
            parse_float=_number,
        )
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at").rstrip(": ")
        sentence = f"the list is not JSON: {what} in line {error.lineno}, column {error.colno}"
    except RecursionError:
        sentence = "the list is not usable JSON: it is nested too deeply"
    raise ListRefused(ListProblem.NOT_JSON, sentence, _WRITE_A_LIST)


def _object(pairs: list[tuple[str, Any]]) -> Any:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return _InvalidValue(f"an object with the field {_excerpt(name)} twice")
        seen.add(name)
    raise AssertionError("fewer fields than pairs, and none twice")


def _integer(text: str) -> Any:
    number = int(text) if len(text.lstrip("-")) <= _DIGITS_MAX else None
    return (
        number if number is not None and abs(number) <= NUMBER_MAX else _InvalidValue(f"a number beyond {NUMBER_MAX}")
    )


def _number(text: str) -> Any:
    number = float(text)
    return number if math.isfinite(number) else _InvalidValue(f"the number {_excerpt(text)}, which is too large")


def _entry(number: int, found: Any, objects: bool, use: EntryUse) -> Entry:
    if isinstance(found, dict) is not objects and not isinstance(found, _InvalidValue):
        other = "an object" if objects else "a value"
        raise _bad(number, f"is {_kind(found)}, but entry 0 is {other}", "all entries must be of one kind")
    entry: Entry = _fields(number, found) if isinstance(found, dict) else _scalar(number, found, "")
    _check_use(number, entry, use)
    return entry


def _fields(number: int, found: Mapping[str, Any]) -> Mapping[str, Scalar]:
    if len(found) > FIELDS_MAX:
        raise _bad(number, f"has {len(found)} fields; the maximum is {FIELDS_MAX}")
    for name in found:
        if _FIELD.fullmatch(name) is None:
            raise _bad(number, f"has the field {_excerpt(name)}", "use at most 63 letters, digits, '_' and '-'")
    return {name: _scalar(number, entry, name) for name, entry in found.items()}


def _scalar(number: int, found: Any, field: str) -> Scalar:
    where = f"has {_excerpt(field)}: " if field else "is "
    if isinstance(found, str):
        if len(found) > ENTRY_LENGTH_MAX:
            why = f"a string of {len(found)} characters; the maximum is {ENTRY_LENGTH_MAX}"
            raise _bad(number, where + why, "write it into a file, and its name into the list")
        if "\x00" in found or not _encodable(found):
            raise _bad(number, f"{where}a string with a NUL or invalid character, which no command may have")
        return found
    if isinstance(found, bool | int | float):
        return found
    raise _bad(number, where + _kind(found), _WRITE_A_LIST)


def _check_use(number: int, entry: Entry, use: EntryUse) -> None:
    """Refuse an entry that does not fit the texts of the step, or makes them too long."""
    if isinstance(entry, Mapping):
        if "" in use.counts:
            raise _bad(number, "is an object, and the step uses it as a value", "name a field: {each:NAME.FIELD}")
        missing = sorted(use.fields - entry.keys())
        if missing:
            raise _bad(number, f"has no field {_excerpt(missing[0])}, which the step uses")
        filled = sum(count * len(text_of(entry[name]).encode()) for name, count in use.counts.items())
    else:
        if use.fields:
            raise _bad(number, f"is {_kind(entry)}, and the step uses its field {_excerpt(min(use.fields))}")
        filled = use.counts.get("", 0) * len(text_of(entry).encode())
    if use.fixed_bytes + filled > FILLED_BYTES_MAX:
        size = use.fixed_bytes + filled
        why = f"is too long: with it, the texts of the step have {size} bytes (maximum {FILLED_BYTES_MAX})"
        raise _bad(number, why, "write it into a file, and its name into the list")


def _bad(number: int, why: str, hint: str = "") -> ListRefused:
    return ListRefused(ListProblem.BAD_ENTRY, f"entry {number} of the list {why}", hint or _WRITE_A_LIST)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can contain
        return False
    return True


_KINDS: Mapping[type, str] = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}


def _kind(found: Any) -> str:
    if isinstance(found, _InvalidValue):
        return found.why
    return _KINDS.get(type(found)) or json.dumps(found)


def _excerpt(text: str) -> str:
    return ascii(text[:_SHOWN_MAX])
