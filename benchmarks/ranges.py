"""The ranges for figures, from ranges.json, and the table that compares them.

`most` and `least` are the goals. A machine that is shared or slower than the one of docs/operate/performance.md may
miss a goal by the `margin` (a factor) before the command fails; with ZOE_BENCH_STRICT=1 there is no margin.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Sequence
from pathlib import Path

_FILE = Path(__file__).with_name("ranges.json")
_WIDTH = 64


class Table:
    """Prints a line for each figure, and reports at the end whether any was out of its range."""

    def __init__(self, group: str) -> None:
        ranges = json.loads(_FILE.read_text())
        self._margin = 1.0 if os.environ.get("ZOE_BENCH_STRICT") == "1" else float(ranges["margin"])
        self._ranges: dict[str, dict[str, float]] = ranges[group]
        self._seen: set[str] = set()
        self.missed: list[str] = []
        print(f"{'case':<{_WIDTH}}{'median':>10}  {'least to greatest':<22}{'goal':>12}  ")

    def row(self, case: str, values: Sequence[float]) -> None:
        """Print a row; the median is compared, and a case without a range is only printed."""
        middle = statistics.median(values)
        goal, verdict = self._judge(case, middle)
        spread = f"{min(values):.4g} to {max(values):.4g}"
        print(f"{case:<{_WIDTH}}{middle:>10.4g}  {spread:<22}{goal:>12}  {verdict}", flush=True)

    def close(self) -> int:
        """Return 1 if a figure is out of its range or was not measured at all."""
        for case in self._ranges.keys() - self._seen:
            self.missed.append(f"{case} was not measured")
        for line in self.missed:
            print(f"out of range: {line}")
        return 1 if self.missed else 0

    def _judge(self, case: str, middle: float) -> tuple[str, str]:
        wanted = self._ranges.get(case)
        if wanted is None:
            return "", ""
        self._seen.add(case)
        if "most" in wanted:
            limit, kept, within = wanted["most"], middle <= wanted["most"], middle <= wanted["most"] * self._margin
            goal = f"<= {limit:g}"
        else:
            limit, kept, within = wanted["least"], middle >= wanted["least"], middle >= wanted["least"] / self._margin
            goal = f">= {limit:g}"
        if not within:
            self.missed.append(f"{case}: {middle:.4g}, goal {goal}")
        return goal, "ok" if kept else "missed, within the margin" if within else "MISSED"
