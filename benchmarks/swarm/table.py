"""The printed tables."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line: values of Zoe and of the others in the same rounds; the goal is for the ratio of medians, or for Zoe's.

    `at_most` False: more is better.
    """

    what: str
    unit: str
    ours: Sequence[float]
    beside: Sequence[float]
    beside_what: str
    goal: float | None
    at_most: bool = True
    of_ratio: bool = True

    @property
    def ratio(self) -> float:
        """Return the ratio of the medians."""
        return statistics.median(self.ours) / statistics.median(self.beside)

    @property
    def is_reached(self) -> bool:
        """Return whether the goal is reached."""
        if self.goal is None:
            return True
        value = self.ratio if self.of_ratio else statistics.median(self.ours)
        return value <= self.goal if self.at_most else value >= self.goal


HEAD = f"{'what':<44}{'Zoe':>22}{'beside':>22}{'ratio':>7}  {'goal':<10}{'':<5}beside what"


def tell(figures: Sequence[Figure]) -> None:
    """Print medians, range, ratio and goal of each."""
    for figure in figures:
        sign = "<=" if figure.at_most else ">="
        goal = "" if figure.goal is None else f"{sign} {figure.goal:g}{'' if figure.of_ratio else ' ' + figure.unit}"
        met = "" if figure.goal is None else ("yes" if figure.is_reached else "NO")
        ratio = f"{figure.ratio:.2f}" if figure.beside and figure.of_ratio else ""
        beside = _spread(figure.beside, figure.unit) if figure.beside else ""
        ours = _spread(figure.ours, figure.unit)
        print(f"{figure.what:<44}{ours:>22}{beside:>22}{ratio:>7}  {goal:<10}{met:<5}{figure.beside_what}", flush=True)


def load() -> str:
    """Return the load of the machine."""
    return f"load {', '.join(f'{value:.1f}' for value in os.getloadavg())}"


def _spread(values: Sequence[float], unit: str) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g}) {unit}"
