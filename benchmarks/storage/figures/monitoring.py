"""Figure 20: the bytes of monitoring."""

from __future__ import annotations

import argparse
import time

from benchmarks.storage.figures.figure import Measurements, Point
from benchmarks.storage.figures.store import RuledStore, ruled_store
from benchmarks.storage.table import Line

PRINTED = (
    "Monitoring sends O = W s (2 N + C) bytes a second: W workload metrics of s = 130 bytes, N nodes, C consumers."
)
DIFFERS = """A proxy reports all of its counters in one message, to the controller alone, so there is no factor for
consumers: a fixed part, and some bytes for each container that was used since the last report."""
_CONTAINERS = (0, 1, 10, 100)
_SECONDS = 5.0


def measure(options: argparse.Namespace) -> Measurements:
    """Count the bytes of reports while so many containers are used once a second."""
    found = Measurements("containers in use", "bytes a second")
    seconds = min(_SECONDS, max(options.rounds / 60, 2.0))
    with ruled_store([f"c{number}" for number in range(max(_CONTAINERS))]) as its:
        its.rule()
        _bytes_in(its, 0, 1.0)
        for count in _CONTAINERS:
            rate = _bytes_in(its, count, seconds)
            found.points.append(Point("a proxy", count, rate))
            found.lines.append(Line(f"{count} containers in use", f"{rate:.0f} bytes a second from each proxy"))
    first, last = found.points[0], found.points[-1]
    each = (last.y - first.y) / (last.x - first.x)
    found.lines.append(Line("each container more", f"{each:.0f} bytes a second", ""))
    return found


def _bytes_in(its: RuledStore, containers: int, seconds: float) -> float:
    usage, total = its.pusher.usage, 0
    while usage.poll(0):
        usage.recv()
    began_s = next_s = time.monotonic()
    until_s = began_s + seconds
    while (now_s := time.monotonic()) < until_s:
        if now_s >= next_s:
            next_s += 1.0
            for number in range(containers):
                its.timed_ms("HEAD", f"c{number}")
        while usage.poll(10):
            total += len(usage.recv())
    return total / (time.monotonic() - began_s)
