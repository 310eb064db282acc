"""Figures 11 and 13: caching above a rate of reads, and for small objects of a read-mostly web trace."""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator

from benchmarks.storage.figures.figure import Measurements, Point, ratio
from benchmarks.storage.figures.store import TENANT, RuledStore, controlled_store, ruled_store, text
from benchmarks.storage.table import Line

PRINTED_11 = "Caching above 5 GET/s, under a load that oscillates: GETs 29.7 % faster in the median, PUTs 2 % slower."
DIFFERS_11 = """Two containers are read and written in turn by one client; only one has the rule. The store's node is on
the same machine, with its data in memory, so a cache saves less than before disks of other machines."""
PRINTED_13 = "A read-mostly web trace, small objects cached: GETs 99 % faster in the median, writes 4.2 % slower."
DIFFERS_13 = """The trace is not public: 300 objects, sizes log-normal with a median of 10 KB (sigma 1.2), chosen by
Zipf's law (exponent 0.8), one request of twenty a PUT, one after the other, of a store with its data in memory."""
_SLOW, _FAST = 2.0, 20.0
_PERIOD_S = 12.0
_OBJECT = 100_000
_OBJECTS, _WRITES, _SMALL = 300, 20, 1_000_000


def oscillating(options: argparse.Namespace) -> Measurements:
    """Read two containers at 2 and at 20 GET/s in turn, with one PUT a second."""
    found = Measurements("seconds", "ms of a GET of 100 KB")
    taken: dict[tuple[str, str], list[float]] = {(c, m): [] for c in ("plain", "cached") for m in ("GET", "PUT")}
    content = text(_OBJECT, random.Random(11))
    rule = f"FOR CONTAINER {TENANT}/cached WHEN GETS_SEC > 5 DO SET CACHING"
    with controlled_store(("plain", "cached"), rule) as its:
        for container in ("plain", "cached"):
            its.timed_ms("PUT", f"{container}/object", content)
        began_s = time.perf_counter()
        for cycle in range(max(options.rounds // 75, 1)):
            for rate in (_SLOW, _FAST):
                found.split.append((time.perf_counter() - began_s, f"{rate:g} GET/s"))
                for at_s in _beats(rate, _PERIOD_S):
                    for container in ("plain", "cached") if cycle % 2 else ("cached", "plain"):
                        used_ms = its.timed_ms("GET", f"{container}/object", content)
                        taken[container, "GET"].append(used_ms)
                        found.points.append(Point(container, time.perf_counter() - began_s, used_ms))
                        if at_s == int(at_s):
                            put_ms = its.timed_ms("PUT", f"{container}/written", content)
                            taken[container, "PUT"].append(put_ms)
    for method, goal in (("GET", 0.70), ("PUT", 1.02)):
        mine, theirs = taken["cached", method], taken["plain", method]
        middle = f"medians {statistics.median(theirs):.2f} and {statistics.median(mine):.2f} ms"
        one = ratio(mine, theirs)
        figure = f"{one} of that without; {middle}"
        found.lines.append(Line(f"{method}, all of the time", figure, f"<= {goal:.2f}", one.middle <= goal))
    return found


def _beats(rate: float, seconds: float) -> Iterator[float]:
    """Yield the times of a rate, in seconds from now, each when it is due."""
    began_s = time.perf_counter()
    for number in range(int(rate * seconds)):
        at_s = number / rate
        time.sleep(max(began_s + at_s - time.perf_counter(), 0.0))
        yield at_s


def web(options: argparse.Namespace) -> Measurements:
    """Replay a generated trace against a container that is cached, and an equal one that is not."""
    drawn = random.Random(13)
    sizes = [min(int(drawn.lognormvariate(9.21, 1.2)) + 1, 2_000_000) for _ in range(_OBJECTS)]
    contents = [text(size, random.Random(size)) for size in sizes]
    found = Measurements("bytes of the object", "ms of a GET", log=True)
    with ruled_store(("plain", "cached"), cache=True) as its:
        its.rule(f"FOR CONTAINER {TENANT}/cached DO SET CACHING TO OBJECT_SIZE<{_SMALL}")
        for container in ("plain", "cached"):
            for number, content in enumerate(contents):
                its.timed_ms("PUT", f"{container}/{number}", content)
        weights = [1 / (rank + 1) ** 0.8 for rank in range(_OBJECTS)]
        names = drawn.choices(range(_OBJECTS), weights, k=max(options.rounds * 4, 20))
        taken = _replay(its, names, lambda number: contents[number], found)
    for method, goal in (("GET", 0.70), ("PUT", 1.04)):
        one = ratio(taken["cached", method], taken["plain", method])
        figure = f"{one} of that without, {len(taken['plain', method])} pairs"
        found.lines.append(Line(f"{method} of the trace", figure, f"<= {goal:.2f}", one.middle <= goal))
    return found


def _replay(
    its: RuledStore, names: list[int], content: Callable[[int], bytes], found: Measurements
) -> dict[tuple[str, str], list[float]]:
    taken: dict[tuple[str, str], list[float]] = {(c, m): [] for c in ("plain", "cached") for m in ("GET", "PUT")}
    for place, number in enumerate(names):
        method = "GET" if place % _WRITES else "PUT"
        for container in ("plain", "cached") if place % 2 else ("cached", "plain"):
            used_ms = its.timed_ms(method, f"{container}/{number}", content(number))
            taken[container, method].append(used_ms)
            if method == "GET":
                found.points.append(Point(container, len(content(number)), used_ms))
    found.points.sort(key=lambda point: (point.series, point.x))
    return taken
