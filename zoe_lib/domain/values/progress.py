"""Progress of an execution as reported by its program, and the estimated rest. Pure.

Programs may report anything: an amount counts only if it is plausible, one odd reading changes little, and memory is
bounded. A total may grow, like Spark's number of known tasks: then earlier readings are shares of the new total, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import median

from zoe_lib.domain.values.frozen import changed, value

READINGS_MAX = 32
TEXT_MAX = 200
_RESTARTS_AFTER = 3
_LEAST_READINGS = 6
_WINDOW_MIN = 12
# The pace between two readings closer than this share of the window is mostly noise.
_APART = 1 / 3
_INSTANT_S = 0.001


@value(frozen=True, slots=True)
class ProgressProbe:
    """Source of an execution's progress: exactly one of `file`, `port` and `spark`.
    file: a file in the working directory of the component's first instance; its last line counts. port: its HTTP port,
    asked for `path`. spark: the port of a Spark driver's own pages, with Spark's REST interface.
    """

    file: str | None = None
    port: str | None = None
    path: str = "/"
    spark: str | None = None


@value(frozen=True, slots=True)
class ProgressReading:
    """Amount done at a time, in seconds since the epoch; a share has the total 1."""

    at_s: float
    done: float
    total: float = 1.0

    @property
    def share(self) -> float:
        """Return the finished share, from 0 to 1."""
        return self.done / self.total


@value(frozen=True, slots=True)
class ExecutionProgress:
    """Progress of an execution's attempt: its readings, oldest first, and why the last one was not understood.
    at_s: time of the last reading, or try. text: the unit of the share, such as tasks; empty for a plain share.
    """

    execution_id: str
    attempt: int
    at_s: float
    readings: tuple[ProgressReading, ...] = ()
    text: str = ""
    problem: str = ""

    @property
    def share(self) -> float | None:
        """Return the finished share, by the newest reading; None before the first one."""
        return self.readings[-1].share if self.readings else None


@value(frozen=True, slots=True)
class RemainingProgress:
    """Estimated rest: half of the recent paces were faster; a quarter was faster than `low_s`, and a quarter slower
    than `high_s`, which is None if that quarter made no progress.
    """

    seconds: float
    low_s: float
    high_s: float | None


class NoProgress(ValueError):  # noqa: N818 - the name is the fact
    """A program's report is not progress; the text gives the cause, without the report."""


def reading_of(at_s: float, done: float, total: float = 1.0) -> ProgressReading:
    """Return a reading; NoProgress if the numbers cannot be one."""
    if not (math.isfinite(done) and math.isfinite(total)):
        raise NoProgress("it is not a finite number")
    if total <= 0:
        raise NoProgress("its total is not positive")
    if done < 0:
        raise NoProgress("it is negative")
    if done > total:
        raise NoProgress("it is more than the whole")
    return ProgressReading(at_s, done, total)


def not_less(reading: ProgressReading, before: ProgressReading | None) -> ProgressReading:
    """Return a reading of parts that are only ever added, such as tasks: if fewer are done than before, the program
    does not report some of them any more.
    """
    if before is None or reading.done >= before.done:
        return reading
    return changed(reading, done=before.done, total=max(reading.total, before.total))


class ProgressHistory:
    """The readings of one attempt: at most `READINGS_MAX`, spread over all of its time."""

    def __init__(self, readings: Sequence[ProgressReading] = ()) -> None:
        self._readings = list(readings)
        self._lower: list[ProgressReading] = []
        self._gap_s = 0.0

    @property
    def readings(self) -> tuple[ProgressReading, ...]:
        """Return the readings, oldest first."""
        return tuple(self._readings)

    def take(self, reading: ProgressReading) -> str:
        """Add the newest reading; return why it was rejected, or empty.

        A lower one is accepted only when it is repeated: then the program has begun a part of its work again. A first
        reading of 100 % is not progress.
        """
        kept = self._readings
        if not kept and reading.share >= 1:
            return "it reported from the start that all is done, while it runs"
        if kept and reading.at_s <= kept[-1].at_s:
            self._set_back(kept[-1].at_s - reading.at_s + _INSTANT_S)
            kept = self._readings
        if kept and reading.done < kept[-1].done and reading.share < kept[-1].share:
            return self._take_lower(reading)
        self._lower.clear()
        self._keep(reading)
        return ""

    def _set_back(self, by_s: float) -> None:
        """Move all readings back with the clock."""
        self._readings = [changed(reading, at_s=reading.at_s - by_s) for reading in self._readings]
        self._lower = [changed(reading, at_s=reading.at_s - by_s) for reading in self._lower]

    def _take_lower(self, reading: ProgressReading) -> str:
        self._lower.append(reading)
        if len(self._lower) < _RESTARTS_AFTER:
            return "it went backwards"
        again, self._lower = self._lower, []
        level = min(reading.share for reading in again)
        self._readings = [reading for reading in self._readings if reading.share <= level]
        for entry in sorted(again, key=lambda reading: reading.at_s):
            if not self._readings or entry.done >= self._readings[-1].done:
                self._keep(entry)
        return "it went backwards, and goes on from there"

    def _keep(self, reading: ProgressReading) -> None:
        kept = self._readings
        if len(kept) > 1 and kept[-1].at_s - kept[-2].at_s < self._gap_s:
            kept[-1] = reading
        else:
            kept.append(reading)
        if len(kept) > READINGS_MAX:
            self._readings = kept[:-1:2] + kept[-1:]
            self._gap_s = (kept[-1].at_s - kept[0].at_s) / (READINGS_MAX / 2)


def remaining_s(readings: Sequence[ProgressReading], now_s: float) -> RemainingProgress | None:
    """Return the estimated rest at the pace of the later half of the readings; None if unknown.

    It is unknown with few readings, without progress between them, and when all known work is done, though the program
    runs. The pace is the median of the paces between readings that lie apart (Theil and Sen), so that one odd reading
    changes it little.
    """
    known = [reading for reading in readings[-READINGS_MAX:] if reading.at_s <= now_s]
    window = known[-max(_WINDOW_MIN, len(known) // 2) :]
    if len(window) < _LEAST_READINGS or window[-1].share >= 1:
        return None
    last = window[-1]
    paces = _paces(window)
    pace = _quantile(paces, 0.5)
    if pace <= 0:
        return None
    done = median(reading.done + pace * (last.at_s - reading.at_s) for reading in window)
    left, since_s = max(last.total - done, 0.0), now_s - last.at_s
    slow, fast = _quantile(paces, 0.25), _quantile(paces, 0.75)
    high_s = None if slow <= 0 else max(left / slow - since_s, 0.0)
    return RemainingProgress(max(left / pace - since_s, 0.0), max(left / fast - since_s, 0.0), high_s)


def _paces(window: Sequence[ProgressReading]) -> list[float]:
    """Return the amounts done per second between readings that lie apart, lowest first."""
    apart_s = (window[-1].at_s - window[0].at_s) * _APART
    pairs = [(a, b) for a, b in combinations(window, 2) if b.at_s - a.at_s >= apart_s and b.at_s > a.at_s]
    return sorted((b.done - a.done) / (b.at_s - a.at_s) for a, b in pairs)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0
