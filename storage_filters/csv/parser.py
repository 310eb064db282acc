"""Read one CSV line as Spark's parser does, even if its quotes make no sense; and write values so that it reads them.

The values of a line are those of univocity-parsers 2.9.1 (Apache-2.0) with the settings of Spark 3.5: one line at a
time, blanks kept, and a quoted field that continues behind its closing quote is text up to the next delimiter
(`STOP_AT_DELIMITER`). `_Parser` follows the states of its `CsvParser`.
"""

from __future__ import annotations

from collections.abc import Sequence

from storage_filters.csv.selection import CsvFormat

MARK = b"\xef\xbb\xbf"
"""The byte order mark that some programs write before UTF-8; readers skip it at the beginning of their input."""
Value = bytes | None
"""The value of a field: None is null, an empty text is a quoted field without content."""

_BLANK = 0x20
_NONE = 0
_COMMENT = ord("#")  # univocity's default, which it checks at the end of input although Spark reads no comments


class UnreadableRecordError(ValueError):
    """A record of which it is unknown how Spark reads it."""


def is_blank(text: bytes) -> bool:
    """Return whether Spark skips such a line, which has no character above the blank."""
    return not text or max(text) <= _BLANK


def values_of(line: bytes, csv: CsvFormat) -> list[Value]:
    """Return the values of a line that is not blank, without its end. Raises UnreadableRecordError."""
    try:
        return _Parser(line, csv).values()
    except RecursionError:
        raise UnreadableRecordError(f"too many misplaced quotes and escapes: {line[:80]!r}") from None


def line_with(values: Sequence[Value], csv: CsvFormat) -> bytes:
    """Return a line that is not blank and has these values. Raises UnreadableRecordError if no such line exists."""
    delimiter = csv.delimiter.encode()
    fields = [_field(value, csv) for value in values]
    seen = [_visible(values[0], csv), *fields[1:]]
    # A value of only blanks and zero bytes needs a delimiter behind it; readers ignore surplus fields.
    for line in (delimiter.join(fields), delimiter.join(seen), delimiter.join([*seen, b""])):
        if not is_blank(line) and _is_read_as(line, values, csv):
            return line
    raise UnreadableRecordError(f"cannot write a value: {delimiter.join(fields)[:80]!r}")


def _is_read_as(line: bytes, values: Sequence[Value], csv: CsvFormat) -> bool:
    null = csv.null_text.encode()
    found = values_of(line, csv)[: len(values)]
    return [_without_null_text(data, null) for data in found] == [_without_null_text(value, null) for value in values]


def _without_null_text(value: Value, null: bytes) -> Value:
    return None if value == null else value


def _field(value: Value, csv: CsvFormat) -> bytes:
    if value is None:
        return b""
    special = (csv.delimiter.encode(), b"\n", b"\r")
    if value and not value.startswith((csv.quote.encode(), MARK)) and not any(sign in value for sign in special):
        return value
    return _quote(value, csv)


def _visible(value: Value, csv: CsvFormat) -> bytes:
    return _quote(csv.null_text.encode() if value is None else value, csv)


def _quote(value: bytes, csv: CsvFormat) -> bytes:
    quote, escape = csv.quote.encode(), csv.escape.encode()
    if escape != quote:
        value = value.replace(escape, escape * 2)
    return quote + value.replace(quote, escape + quote) + quote


class _EndOfLineError(Exception):
    """The parser needs a byte beyond the last one."""


class _Parser:
    """Parser of one line. `_char` is the present byte, `_before` the one before it within a quoted field."""

    def __init__(self, line: bytes, csv: CsvFormat) -> None:
        self._line = line
        self._at = 0
        self._delimiter, self._quote, self._escape = ord(csv.delimiter), ord(csv.quote), ord(csv.escape)
        self._escape_of_escape = _NONE if self._escape == self._quote else self._escape
        self._char = self._before = _NONE
        self._unescaped = False
        self._text = bytearray()
        self._values: list[Value] = []

    def values(self) -> list[Value]:
        try:
            self._char = self._next_byte()
            self._record()
        except _EndOfLineError:
            self._end()
        return self._values

    def _next_byte(self) -> int:
        if self._at >= len(self._line):
            raise _EndOfLineError
        self._at += 1
        return self._line[self._at - 1]

    def _append_until(self, char: int, *stops: int) -> int:
        """Append from `char`, the last one taken, up to one of the stops; return that stop."""
        if char in stops:
            return char
        start = self._at - 1
        places = [place for stop in set(stops) if (place := self._line.find(stop, self._at)) >= 0]
        if not places:
            self._text += self._line[start:]
            self._at = len(self._line)
            raise _EndOfLineError
        self._text += self._line[start : min(places)]
        self._at = min(places) + 1
        return self._line[self._at - 1]

    def _take(self) -> None:
        self._values.append(bytes(self._text))
        self._text.clear()

    def _record(self) -> None:
        while True:
            if self._char == self._delimiter:
                self._values.append(None)
            else:
                self._unescaped, self._before = False, _NONE
                if self._char == self._quote:
                    if (simple := self._simple()) is not None:
                        self._values.append(simple)
                        self._char = self._next_of_full()
                        continue
                    self._parse_quoted()
                else:
                    self._char = self._append_until(self._char, self._delimiter)
                self._take()
            self._char = self._next_byte()

    def _next_of_full(self) -> int:
        """Continue behind the delimiter that follows a field; the line may end there with an empty field."""
        self._char = self._next_byte()
        return self._next_byte()

    def _simple(self) -> bytes | None:
        """Return a quoted field that contains nothing to escape and is followed by a delimiter."""
        at = self._at
        while at < len(self._line):
            char = self._line[at]
            if char == self._quote:
                if self._line[at - 1] == self._escape or self._line[at + 1 : at + 2] != bytes([self._delimiter]):
                    return None
                value, self._at = self._line[self._at : at], at + 1
                return value
            if char == self._escape and self._line[at + 1 : at + 2] in (
                bytes([self._quote]),
                bytes([self._escape_of_escape]),
            ):
                return None
            at += 1
        return None

    def _parse_quoted(self) -> None:
        if self._before != _NONE:
            self._to_delimiter()
            return
        self._char = self._next_byte()
        while not (self._before == self._quote and (self._char <= _BLANK or self._char == self._delimiter)):
            if self._char not in (self._quote, self._escape):
                if self._before == self._quote:
                    self._unescaped = True
                    self._text += bytes([self._quote, self._char])
                    self._before = self._char
                    self._to_delimiter()
                    return
                if self._before == self._escape:
                    self._text.append(self._escape)
                self._char = self._append_until(self._char, self._quote, self._escape, self._escape_of_escape)
                self._before = self._char
                self._char = self._next_byte()
            else:
                self._parse_escape()
                self._before = self._char
                self._char = self._next_byte()
                if self._unescaped and self._char == self._delimiter:
                    return
        if self._char != self._delimiter:
            self._blanks_behind()

    def _to_delimiter(self) -> None:
        self._text.insert(0, self._quote)
        self._char = self._next_byte()
        self._char = self._append_until(self._char, self._delimiter)

    def _blanks_behind(self) -> None:
        blanks = bytearray()
        while self._char <= _BLANK and self._char != self._delimiter:
            blanks.append(self._char)
            self._char = self._next_byte()
        if self._char == self._delimiter:
            return
        self._text.append(self._quote)
        self._text += blanks
        self._text.append(self._char)
        self._before = self._char
        self._parse_quoted()

    def _parse_escape(self) -> None:
        """Handle a quote or an escape within a quoted field."""
        if self._char == self._escape and self._before == self._escape_of_escape != _NONE:
            self._text.append(self._escape)
            self._char = _NONE
        elif self._before == self._escape:
            if self._char == self._quote:
                self._text.append(self._quote)
                self._char = _NONE
            else:
                self._text.append(self._before)
        elif self._char == self._quote == self._before:
            self._text.append(self._quote)
        elif self._before == self._quote:
            self._text.append(self._quote)
            self._before = self._char
            self._as_unquoted()

    def _as_unquoted(self) -> None:
        while self._char != self._delimiter:
            if self._char not in (self._quote, self._escape):
                if self._before == self._quote:
                    self._text.append(self._quote)
                    self._before = self._char
                    continue
                self._text.append(self._char)
            else:
                self._parse_escape()
            self._before = self._char
            self._char = self._next_byte()

    def _end(self) -> None:
        taken = False
        if self._char == self._quote:
            if self._before == self._quote:
                taken = True
            elif not self._unescaped:
                self._text.append(self._quote)
        if not taken:
            taken = self._before != _NONE and self._char not in (self._delimiter, _COMMENT)
        if self._text or taken:
            self._take()
        else:
            self._values.append(None)
