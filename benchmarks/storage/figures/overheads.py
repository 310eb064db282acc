"""Figures 18 and 19: costs of the filter host for a request, and of isolated filters."""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Mapping, Sequence

from benchmarks.storage.figures.figure import Measurements, Point, ratio
from benchmarks.storage.figures.store import TENANT, RuledStore, ruled_store
from benchmarks.storage.modules import MODULES
from benchmarks.storage.table import Line

PRINTED_18 = "Reading an object's record costs 1.5 to 3 ms a request: 3.9 % at 1 MB, 8 to 13 % at 10 KB."
DIFFERS_18 = """An empty chain (SET NOOP) is noted with each object, and read with it, at the proxy; beside it, objects
without a rule."""
PRINTED_19 = "An empty isolated filter costs 3 to 11 ms, each further one 3 to 9 ms."
DIFFERS_19 = (
    "Filters are WebAssembly modules that copy their input, in the proxy's process; there, containers with Java."
)
SIZES = (10_000, 100_000, 1_000_000)
_METHODS = ("PUT", "GET")


def chain(options: argparse.Namespace) -> Measurements:
    """Put and read objects of three sizes with an empty chain, and without."""
    rules = {"none": "", "empty": "SET NOOP"}
    found = Measurements("bytes of the object", "ms more than without a rule", log=True)
    with ruled_store(tuple(rules)) as its:
        its.rule(*(f"FOR CONTAINER {TENANT}/{name} DO {action}" for name, action in rules.items() if action))
        for size in SIZES:
            taken, used = _measure_pairs(its, tuple(rules), size, options.rounds)
            for method in _METHODS:
                mine, theirs = taken["empty", method], taken["none", method]
                more_ms = statistics.median(a - b for a, b in zip(mine, theirs, strict=True))
                found.points.append(Point(method, size, max(more_ms, 0.0)))
                cpu_ms = (used["empty", method] - used["none", method]) / len(mine) * 1e3
                figure = f"{more_ms:+.2f} ms, {ratio(mine, theirs)} of that without; CPU of the proxy {cpu_ms:+.2f} ms"
                reached = more_ms < 0.5 and cpu_ms < 0.3
                found.lines.append(Line(f"{method} of {size // 1000} KB", figure, "< 0.5 ms, CPU < 0.3", reached))
    found.points.sort(key=lambda point: (point.series, point.x))
    return found


def modules(options: argparse.Namespace) -> Measurements:
    """Put and read objects through none, one, two and four modules that change nothing."""
    empty = {name: content for name, content in MODULES.items() if name.startswith("empty") and name[-1].isdigit()}
    rules = {"none": ""} | {
        f"modules{count}": ", ".join(f"SET {name}" for name in list(empty)[:count]) for count in (1, 2, 4)
    }
    found = Measurements("modules", "ms more than without any")
    with ruled_store(tuple(rules), empty) as its:
        its.rule(*(f"FOR CONTAINER {TENANT}/{name} DO {action}" for name, action in rules.items() if action))
        for size in (10_000, 1_000_000):
            taken, used = _measure_pairs(its, tuple(rules), size, options.rounds)
            for method in _METHODS:
                _further(found, method, size, taken, used)
    return found


def _further(
    found: Measurements,
    method: str,
    size: int,
    taken: Mapping[tuple[str, str], Sequence[float]],
    used: Mapping[tuple[str, str], float],
) -> None:
    theirs = taken["none", method]
    more, cpus = {0: 0.0}, {0: 0.0}
    for count in (1, 2, 4):
        mine = taken[f"modules{count}", method]
        more[count] = statistics.median(a - b for a, b in zip(mine, theirs, strict=True))
        cpus[count] = (used[f"modules{count}", method] - used["none", method]) / len(mine) * 1e3
    found.points += [Point(f"{method} of {size // 1000} KB", count, max(ms, 0.0)) for count, ms in more.items()]
    figure = (
        f"first {more[1]:+.2f} ms (CPU {cpus[1]:+.2f}), each further {(more[4] - more[1]) / 3:+.2f} ms "
        f"(CPU {(cpus[4] - cpus[1]) / 3:+.2f})"
    )
    found.lines.append(Line(f"{method} of {size // 1000} KB", figure, "first <= 1 ms", more[1] <= 1.0))


def _measure_pairs(
    its: RuledStore, containers: Sequence[str], size: int, rounds: int
) -> tuple[dict[tuple[str, str], list[float]], dict[tuple[str, str], float]]:
    """Return milliseconds of each request and CPU seconds of all, by container and method; rounds are interleaved."""
    taken: dict[tuple[str, str], list[float]] = {(c, m): [] for c in containers for m in _METHODS}
    used = dict.fromkeys(taken, 0.0)
    content = os.urandom(size)
    for number in range(-3, rounds):
        for container in containers if number % 2 else tuple(reversed(containers)):
            for method in _METHODS:
                before_s = its.proxy_cpu_s()
                used_ms = its.timed_ms(method, f"{container}/object", content)
                if number >= 0:
                    taken[container, method].append(used_ms)
                    used[container, method] += its.proxy_cpu_s() - before_s
    return taken, used
