"""The first line of a CSV object. Standard library only: the storage controller reads headers, too."""

from __future__ import annotations

from storage_filters.csv_parser import MARK, UnreadableRecordError, is_blank, values_of
from storage_filters.selection import CsvFormat, SelectionError


def header_names(data: bytes, csv: CsvFormat) -> tuple[str, ...]:
    """The names of columns in the first line of an object that begins with `data`.

    UnreadableRecordError; SelectionError for names that Spark, to which case means nothing, would change.
    """
    line = first_line(with_feeds(data.removeprefix(MARK)))[0]
    if is_blank(line):
        raise UnreadableRecordError("there is no header")
    try:
        names = [(value or b"").decode() for value in values_of(line, csv)]
    except UnicodeDecodeError:
        raise UnreadableRecordError("the header is not UTF-8") from None
    if len({name.lower() for name in names if name}) < sum(map(bool, names)):
        raise SelectionError("two columns of the header have one name, upper and lower case apart")
    return tuple(name or f"_c{number}" for number, name in enumerate(names))


def with_feeds(data: bytes) -> bytes:
    """The same with line feeds for all line ends, as Spark reads them: LF, CR LF and CR."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def first_line(data: bytes) -> tuple[bytes, bytes]:
    """The first line that is not blank, and what follows it; the last line where all are blank."""
    line, rest = b"", data
    while rest and is_blank(line):
        line, _, rest = rest.partition(b"\n")
    return line, rest
