"""Draw the README's picture from a real run of the demo: `make picture`.

The live display is one frame of the run, taken when most services were ready, at its place in the output; of the result
table only the first rows are shown, so that the picture fits a screen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

from zoe_embedded.demos import demo

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "demo.svg"
WIDTH = 92
ROWS_MAX = 5
# The template loads a font from the Internet; any monospaced one will do.
REMOTE_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


class Frame:
    """Replaces the live display: keeps the frame with the most ready services, and prints it at the end."""

    def __init__(self, console: Console, **_: object) -> None:
        self._console = console
        self._best: tuple[int, RenderableType | None] = (-1, None)

    def __enter__(self) -> Frame:
        return self

    def update(self, renderable: RenderableType) -> None:
        """Process one refresh of the display."""
        with self._console.capture() as capture:
            self._console.print(renderable)
        ready = capture.get().count("ready")
        if ready >= self._best[0]:
            self._best = (ready, renderable)

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._best[1] is not None:
            self._console.print(self._best[1])


def first_rows(table: Callable[[list[dict[str, Any]]], Table], rows: list[dict[str, Any]]) -> Table:
    """Return the result table with its first rows, and a note about the others."""
    short = table(rows[:ROWS_MAX])
    short.caption, short.caption_justify = f"  and {len(rows) - ROWS_MAX} more rows", "left"
    return short


def main() -> int:
    """Run the demo, recording its output; return 0 only if the demo succeeded and the picture was written."""
    consoles: list[Console] = []

    def recorder(**options: Any) -> Console:
        consoles.append(Console(record=True, width=WIDTH, force_terminal=True, highlight=False, **options))
        return consoles[-1]

    vars(demo).update(Console=recorder, Live=Frame, _result_table=partial(first_rows, demo._result_table))
    code = demo.main()
    if code == 0:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(REMOTE_FONT.sub("", consoles[0].export_svg(title="make demo")))
    return code


if __name__ == "__main__":
    sys.exit(main())
