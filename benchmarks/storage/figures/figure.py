"""Parts of a figure: measured points, a table, the published result, and the differences; and its plot."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

from benchmarks.storage.table import Line
from zoe_embedded.runtimes.runtime import CLONE

FOLDER = CLONE / "docs" / "study" / "store-figures"


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement of a series. x: seconds since the begin, or a size in bytes; y: milliseconds or MB/s."""

    series: str
    x: float
    y: float


@dataclass
class Measurements:
    """Measurements of a figure. x, y: labels of the axes; split: begins of phases, with their names; log: the
    horizontal axis is logarithmic.
    """

    x: str
    y: str
    points: list[Point] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    split: list[tuple[float, str]] = field(default_factory=list)
    log: bool = False

    def ys(self, series: str) -> list[float]:
        """Return the measurements of a series, in their order."""
        return [point.y for point in self.points if point.series == series]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median over pairs of mine over theirs, and its 95 % interval by order statistics."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.2f} ({self.low:.2f} to {self.high:.2f})"


def ratio(mine: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Return the ratio of mine to theirs, over pairs measured one after the other."""
    ordered = sorted(value / other for value, other in zip(mine, theirs, strict=True))
    count = len(ordered)
    half = 0.98 * math.sqrt(count)
    low, high = ordered[max(0, math.floor(count / 2 - half))], ordered[min(count - 1, math.ceil(count / 2 + half))]
    return Ratio(statistics.median(ordered), low, high)


def write(number: int, found: Measurements, folder: Path = FOLDER) -> None:
    """Write the points as CSV, and their plot as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"figure-{number}.csv").open("w", encoding="ascii", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("series", found.x, found.y))
        table.writerows((point.series, f"{point.x:.5g}", f"{point.y:.5g}") for point in found.points)
    rcParams["svg.hashsalt"] = "store"  # the same ids in every drawing
    _draw(found).savefig(folder / f"figure-{number}.svg", metadata={"Date": None})


def _draw(found: Measurements) -> Figure:
    drawing = Figure(figsize=(8, 3.5), layout="constrained")
    axes = drawing.subplots()
    for series in dict.fromkeys(point.series for point in found.points):
        mine = [point for point in found.points if point.series == series]
        axes.plot(
            [point.x for point in mine],
            [point.y for point in mine],
            label=series,
            linewidth=1,
            marker=".",
            markersize=3,
        )
    for at, name in found.split:
        axes.axvline(at, color="grey", linewidth=0.8)
        axes.annotate(name, (at, 1), xycoords=("data", "axes fraction"), fontsize=7, va="top", rotation=90)
    if found.log:
        axes.set_xscale("log")
    axes.set(xlabel=found.x, ylabel=found.y, ylim=(0, _top([point.y for point in found.points])))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return drawing


def _top(ys: Sequence[float]) -> float:
    """Return the end of the vertical axis: a few requests that waited long would hide all others."""
    return 1.3 * sorted(ys)[int(0.98 * (len(ys) - 1))] if ys else 1.0
