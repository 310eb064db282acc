"""The indices of an array: sets of numbers as users write them, such as `0-999` or `1,3,7-20:2`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from zoe_lib.domain.values.frozen import value

INDEX_MAX = 999_999_999
"""Largest index."""
TEXT_LENGTH_MAX = 20_000
"""Longest text of indices, in characters."""
_PART = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?")
_WHOLE = re.compile(r"([0-9,:-]+)(?:%([0-9]{1,9}))?")
_KEPT_MAX = 256


class IndicesError(ValueError):
    """The text is not a list of indices; the message gives the cause."""


class TooManyIndices(IndicesError):  # noqa: N818 - the name is the fact
    """The text has more indices than an array may have."""


@value(frozen=True, slots=True)
class IndexSet:
    """A set of indices in ascending order, as ranges `(first, last, step)` that do not overlap; `last` is included."""

    ranges: tuple[tuple[int, int, int], ...]
    starts: tuple[int, ...]
    """Position of the first index of each range; as long as `ranges`."""
    count: int

    def __iter__(self) -> Iterator[int]:
        return (index for first, last, step in self.ranges for index in range(first, last + 1, step))

    def __str__(self) -> str:
        return ",".join(map(_text, self.ranges))

    def index_at(self, position: int) -> int:
        """Return the index at a position, from 0; IndexError."""
        if not 0 <= position < self.count:
            raise IndexError(position)
        place = bisect_right(self.starts, position) - 1
        first, _, step = self.ranges[place]
        return first + (position - self.starts[place]) * step

    def position(self, index: int) -> int | None:
        """Return the position of an index; None if it is not in the set."""
        place = bisect_right(self.ranges, (index, INDEX_MAX + 1, 0)) - 1
        if place < 0:
            return None
        first, last, step = self.ranges[place]
        steps, rest = divmod(index - first, step)
        return None if rest or index > last else self.starts[place] + steps

    @property
    def lowest(self) -> int:
        """Return the lowest index."""
        return self.ranges[0][0]

    @property
    def highest(self) -> int:
        """Return the highest index."""
        return self.ranges[-1][1]

    @property
    def step(self) -> int:
        """Return the distance between two consecutive indices if it is constant, else 1."""
        return self.ranges[0][2] if len(self.ranges) == 1 else 1


def parse_array(text: str, count_max: int) -> tuple[IndexSet, int | None]:
    """Return the indices of a text such as `0-999%50`, and how many of them may be active at once (None: any number).

    Repeated indices count once. Raises IndicesError, TooManyIndices; the work is bounded by `count_max`.
    """
    whole = _WHOLE.fullmatch(text) if len(text) <= TEXT_LENGTH_MAX else None
    if whole is None:
        raise IndicesError(f"{text[:40]!r} is not a list of indices; write 0-999, 1,3,7-20:2, or 0-999%50")
    at_once = None if whole[2] is None else int(whole[2])
    if at_once == 0:
        raise IndicesError("%0 would let no index run; use %1 or more")
    ranges = [_range(part) for part in whole[1].split(",")]
    count = sum(map(len, ranges))
    if count > count_max:
        raise TooManyIndices(f"{count} indices are more than an array may have, {count_max}")
    if len(ranges) == 1:
        return _of_ranges([_triple(ranges[0])]), at_once
    return indices_of({index for entry in ranges for index in entry}), at_once


def first_indices(count: int) -> IndexSet:
    """Return the first `count` indices from 0; 0 for none."""
    return _of_ranges([(0, count - 1, 1)]) if count else IndexSet((), (), 0)


@lru_cache(_KEPT_MAX)
def read_indices(text: str) -> IndexSet:
    """Return the indices of a text made by `str` of them."""
    if not text:
        return first_indices(0)
    return _of_ranges([_triple(_range(part)) for part in text.split(",")])


def indices_of(numbers: Iterable[int]) -> IndexSet:
    """Return a set of these indices, in the few ranges that one ascending scan finds; ValueError if there are none."""
    ordered = sorted(numbers)
    if not ordered:
        raise ValueError("no indices")
    ranges: list[tuple[int, int, int]] = []
    place = 0
    while place < len(ordered):
        end = _run_end(ordered, place)
        step = ordered[place + 1] - ordered[place] if end > place else 1
        if end == place + 1 and step > 1:  # two numbers are no pattern
            end, step = place, 1
        ranges.append((ordered[place], ordered[end], step))
        place = end + 1
    return _of_ranges(ranges)


def _run_end(ordered: list[int], place: int) -> int:
    """Return the place of the last number of a run with the distance of its first two."""
    if place + 1 == len(ordered):
        return place
    step, end = ordered[place + 1] - ordered[place], place + 1
    while end + 1 < len(ordered) and ordered[end + 1] - ordered[end] == step:
        end += 1
    return end


def _range(part: str) -> range:
    found = _PART.fullmatch(part)
    if found is None:
        raise IndicesError(f"{part[:40]!r} is neither an index nor a range such as 0-9 or 0-9:3")
    first = int(found[1])
    last, step = int(found[2] or first), int(found[3] or 1)
    if step == 0:
        raise IndicesError(f"{part}: the step must be 1 or more")
    if last < first:
        raise IndicesError(f"{part}: the end is lower than the beginning")
    return range(first, last + 1, step)


def _triple(one: range) -> tuple[int, int, int]:
    return one[0], one[-1], one.step if len(one) > 1 else 1


def _of_ranges(ranges: list[tuple[int, int, int]]) -> IndexSet:
    starts, count = [], 0
    for first, last, step in ranges:
        starts.append(count)
        count += (last - first) // step + 1
    return IndexSet(tuple(ranges), tuple(starts), count)


def _text(one: tuple[int, int, int]) -> str:
    first, last, step = one
    if first == last:
        return str(first)
    return f"{first}-{last}" + (f":{step}" if step > 1 else "")
