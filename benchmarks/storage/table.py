"""The printed tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One figure, with its goal and whether that was reached; without a goal it counts as reached."""

    what: str
    figure: str
    goal: str = ""
    reached: bool = True


def tell(lines: Sequence[Line]) -> None:
    """Print one figure per line."""
    wide = max((len(line.what) for line in lines), default=0) + 2
    figures = max((len(line.figure) for line in lines), default=0) + 2
    for line in lines:
        met = "" if not line.goal else ("yes" if line.reached else "NO")
        print(f"  {line.what:<{wide}}{line.figure:<{figures}}{line.goal:<22}{met}".rstrip(), flush=True)


def load() -> str:
    """Return the load of the machine."""
    return f"load {', '.join(f'{value:.1f}' for value in os.getloadavg())}"
