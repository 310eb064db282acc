"""The output of commands: figures, a progress bar, and starts as CSV."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from zoe_simulator.jobs import Run
from zoe_simulator.trace import in_trace_order

_PROGRESS_EVERY = 100


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of started jobs of `total`; it draws a bar if standard error is a
    terminal.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def tell(started: int) -> None:
            if started % _PROGRESS_EVERY == 0:
                bar.update(task, completed=started)

        yield tell


def print_figures(result: Mapping[str, Any], as_json: bool) -> None:
    """Print one JSON object, or a line each."""
    if as_json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        if isinstance(value, list):
            _print_rows(value)
        else:
            print(f"{name:<24}{_text(value)}")


def _print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a table: a line for each column, a column for each row of the figures."""
    for name in rows[0] if rows else ():
        print(f"{name:<24}" + "".join(f"{_text(row[name]):>24}" for row in rows))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        around = "" if value["low"] is None else f" ({value['low']:.3f} to {value['high']:.3f})"
        return f"{value['share']:.3f}{around}"
    return f"{value:,.3f}" if isinstance(value, float) else f"{value}"


def write_starts(path: Path, runs: list[Run]) -> None:
    """Write `job_id,start_s` in order of the trace."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job_id", "start_s"])
        writer.writerows((run.job.id, seconds_text(run.start_s)) for run in in_trace_order(runs))


def seconds_text(value: float) -> str:
    """Return seconds with all digits, and no point behind whole ones."""
    return str(int(value)) if value == int(value) else repr(value)
