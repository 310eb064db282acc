"""Draw the samples: one plot for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

from tests.soak.growth import DESCRIPTORS, MEMORY, ROWS, THREADS, Series

DRAWN = (MEMORY, DESCRIPTORS, THREADS, ROWS)


def draw(series: Sequence[Series], path: Path) -> None:
    """Write the picture; lines are programs or tables. Tables that hold next to nothing are left out."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    for axes, kind in zip(figure.subplots(2, 2).flat, DRAWN, strict=True):
        for entry in (
            entry for entry in series if entry.kind is kind and max(value for _, value in entry.points) >= _least(entry)
        ):
            axes.plot(
                [s / 60 for s, _ in entry.points], [value for _, value in entry.points], label=entry.of, linewidth=0.9
            )
        axes.set_xlabel("minutes")
        axes.set_ylabel(f"{kind.name}{f' ({kind.unit})' if kind.unit else ''}")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    path.parent.mkdir(exist_ok=True)
    rcParams["svg.hashsalt"] = "soak"
    figure.savefig(path, metadata={"Date": None})


def _least(series: Series) -> float:
    return 50.0 if series.kind.name == "rows" else 0.0
