"""Extract the JSON lines of a byte range from a stream of an object's bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from storage_filters.csv.header import with_feeds
from storage_filters.csv.json_lines.block import LineSelector
from storage_filters.csv.json_lines.selection import JsonSelection
from storage_filters.csv.media import why_not_csv
from storage_filters.csv.parser import MARK, UnreadableRecordError
from storage_filters.csv.stream import blocks_of


def select_lines(chunks: Iterable[bytes], selection: JsonSelection) -> Iterator[bytes]:
    """Yield the wanted fields of the lines that begin in the range and may be wanted; blocks may be empty.

    chunks: the object's bytes from `first_byte(selection)` on, read only as far as needed. Raises
    UnreadableRecordError.
    """
    if selection.end is not None and selection.end <= selection.start:
        return
    selector = LineSelector(selection)
    for number, block in enumerate(blocks_of(chunks, selection.start, selection.end)):
        first = number == 0 and selection.start == 0
        if first and (why := why_not_csv("the object", block)):
            raise UnreadableRecordError(why)
        yield selector.select(with_feeds(block.removeprefix(MARK) if first else block))
