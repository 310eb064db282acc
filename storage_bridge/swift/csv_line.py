"""One CSV line by hand: exact for any line; the vectorised path leaves to it what it does not know."""

from __future__ import annotations

import re
from functools import lru_cache

from storage_bridge.swift.selection import CsvFormat
from zoe_lib.predicate import And, Comparison, IsNull, Not, Or, Predicate

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class MalformedRecordError(ValueError):
    """A record that cannot be read; nothing of what follows is delivered."""


@lru_cache(maxsize=64)
def _quoted_field(csv: CsvFormat) -> re.Pattern[bytes]:
    quote, escape = re.escape(csv.quote), re.escape(csv.escape)
    escaped = f"{quote}{quote}" if csv.escape == csv.quote else f"{quote}{quote}|{escape}."
    return re.compile(f"{quote}(?:[^{quote}{escape}]|{escaped})*{quote}".encode(), re.DOTALL)


def raw_fields(line: bytes, csv: CsvFormat) -> list[bytes]:
    """The fields as they are written, with their quotes. MalformedRecordError for a quote that is not closed."""
    delimiter, quote = csv.delimiter.encode(), csv.quote.encode()
    fields: list[bytes] = []
    at = 0
    while True:
        if line.startswith(quote, at):
            found = _quoted_field(csv).match(line, at)
            if found is None or line[found.end() : found.end() + 1] not in (b"", delimiter):
                raise MalformedRecordError(f"a quoted field does not end well: {line[at : at + 80]!r}")
            end = found.end()
        else:
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
        fields.append(line[at:end])
        if end == len(line):
            return fields
        at = end + 1


def text_of(raw: bytes, csv: CsvFormat) -> bytes | None:
    """The value of a field without quotes and escapes; None for an empty one."""
    quote, escape = csv.quote.encode(), csv.escape.encode()
    if not raw.startswith(quote):
        return raw or None
    inner, value, at = raw[1:-1], bytearray(), 0
    while at < len(inner):
        pair = inner[at : at + 2]
        if pair in (quote + quote, escape + quote, escape + escape):
            value += pair[1:]
            at += 2
        else:
            value += pair[:1]
            at += 1
    return bytes(value)


def number_of(text: bytes | None) -> float | None:
    """The number that it is; None when it is none."""
    return float(text) if text is not None and _NUMBER.fullmatch(text) else None


def holds(predicate: Predicate, values: dict[str, bytes | None]) -> bool | None:
    """Whether it is true of these values; None when that is unknown."""
    match predicate:
        case Comparison(column=column, operator=operator, literal=literal):
            return _compared(values[column], operator, literal)
        case IsNull(column=column):
            return values[column] is None
        case Not(term=term):
            known = holds(term, values)
            return None if known is None else not known
        case And(terms=terms):
            found = {holds(term, values) for term in terms}
            return False if False in found else None if None in found else True
        case Or(terms=terms):
            found = {holds(term, values) for term in terms}
            return True if True in found else None if None in found else False


def _compared(text: bytes | None, operator: str, literal: float | str) -> bool | None:
    if isinstance(literal, str):
        return None if text is None else _by_operator(text, operator, literal.encode())
    number = number_of(text)
    return None if number is None else _by_operator(number, operator, literal)


def _by_operator(left: float | bytes, operator: str, right: float | bytes) -> bool:
    order = (left > right) - (left < right)  # type: ignore[operator]  # both of one type
    return {"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[
        operator
    ]
