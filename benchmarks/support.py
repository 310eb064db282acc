"""Common parts of benchmarks: a temporary home, repetitions, medians."""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from zoe_embedded.home import Home


@contextmanager
def temporary_home() -> Iterator[Home]:
    """Yield a home that is removed afterwards; other accounts can reach it."""
    directory = Path(tempfile.mkdtemp(prefix="zoe-bench-"))
    directory.chmod(0o755)
    try:
        yield Home(directory / "home", os.geteuid() == 0).create()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def repeat(measure: Callable[[], dict[str, float]], runs: int) -> dict[str, list[float]]:
    """Return every figure of every run."""
    figures: dict[str, list[float]] = {}
    for _ in range(runs):
        for name, value in measure().items():
            figures.setdefault(name, []).append(value)
    return figures


def tell(title: str, figures: dict[str, list[float]]) -> None:
    """Print median, least and greatest of every figure."""
    print(f"\n{title}")
    for name, values in figures.items():
        middle = statistics.median(values)
        print(f"  {name:<44}{middle:12.4g}   ({min(values):.4g} to {max(values):.4g}, {len(values)} runs)")


def machine() -> str:
    """Return the machine on which the figures were measured."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({cpu}), {system}, load {os.getloadavg()[0]:.1f}"


def percentile(values: list[float], share: float) -> float:
    """Return the value at that percentile."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
