"""The first line of a CSV object. Standard library only: the storage controller reads headers, too."""

from __future__ import annotations

from collections.abc import Iterable

from storage_filters.csv.parser import MARK, UnreadableRecordError, is_blank, values_of
from storage_filters.csv.selection import CsvFormat, SelectionError


def header_names(data: bytes, csv: CsvFormat) -> tuple[str, ...]:
    """Return the names of columns in the first line of an object that begins with `data`.

    Raises UnreadableRecordError, or SelectionError for names that Spark, which ignores case, would change.
    """
    line = first_line(with_feeds(data.removeprefix(MARK)))[0]
    if is_blank(line):
        raise UnreadableRecordError("the object has no header line; give the names of the columns")
    try:
        names = [(value or b"").decode() for value in values_of(line, csv)]
    except UnicodeDecodeError:
        raise UnreadableRecordError("the header is not UTF-8") from None
    if why := _same_twice(names):
        raise SelectionError(why)
    return tuple(name or f"_c{number}" for number, name in enumerate(names))


def _same_twice(names: Iterable[str]) -> str:
    """Return a sentence part on columns that share a name, ignoring case; empty without one."""
    known: dict[str, str] = {}
    for name in filter(None, names):
        if (first := known.get(name.lower())) is None:
            known[name.lower()] = name
            continue
        twice = f"column {name:.40} appears twice in the header"
        both = f"columns {first:.40} and {name:.40} of the header differ only in case, and Spark ignores case"
        return f"{twice if first == name else both}; name all columns in csv.names"
    return ""


def with_feeds(data: bytes) -> bytes:
    """Return the data with line feeds for all line ends, as Spark reads them: LF, CR LF and CR."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def first_line(data: bytes) -> tuple[bytes, bytes]:
    """Return the first line that is not blank, and the rest; the last line if all are blank."""
    line, rest = b"", data
    while rest and is_blank(line):
        line, _, rest = rest.partition(b"\n")
    return line, rest
