"""Figure 10: the effect of policies on the latency of PUTs while they are set, one after the other."""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time

from benchmarks.storage.figures.figure import Measurements, Point
from benchmarks.storage.figures.store import TENANT, RuledStore, ruled_store, text
from benchmarks.storage.table import Line

PRINTED = """PUTs into a container of random and one of redundant content: encryption at the storage nodes for the
tenant, then compression at the proxy before it, which makes redundant content faster, then a rule of a container with
encryption alone, which switches the tenant's compression off there."""
DIFFERS = "One node, beside the proxy. A rule displaces another kind of filter only with REPLACES ALL, as here."
BYTES = 1_000_000
CONTAINERS = ("random", "redundant")
PHASES = (
    ("no rule", ()),
    ("encryption", (f"FOR TENANT {TENANT} DO SET ENCRYPTION ON OBJECT",)),
    ("compression, encryption", (f"FOR TENANT {TENANT} DO SET COMPRESSION ON PROXY, SET ENCRYPTION ON OBJECT",)),
    (
        "and encryption alone for random",
        (
            f"FOR TENANT {TENANT} DO SET COMPRESSION ON PROXY, SET ENCRYPTION ON OBJECT",
            f"FOR CONTAINER {TENANT}/random DO SET ENCRYPTION ON OBJECT REPLACES ALL",
        ),
    ),
)


def measure(options: argparse.Namespace) -> Measurements:
    """Put into both containers in turn, phase after phase."""
    drawn = random.Random(10)
    contents = {"random": os.urandom(BYTES), "redundant": text(BYTES, drawn)}
    found = Measurements("seconds", "ms of a PUT of 1 MB")
    with ruled_store(CONTAINERS) as its:
        began_s = time.perf_counter()
        for name, rules in PHASES:
            its.rule(*rules)
            found.split.append((time.perf_counter() - began_s, name))
            _phase(its, contents, found, name, max(options.rounds // 4, 5), began_s)
    return found


def _phase(
    its: RuledStore, contents: dict[str, bytes], found: Measurements, name: str, rounds: int, began_s: float
) -> None:
    taken: dict[str, list[float]] = {text: [] for text in CONTAINERS}
    for number in range(-2, rounds):
        for container in CONTAINERS:
            used_s = its.timed_ms("PUT", f"{container}/object", contents[container])
            if number >= 0:
                taken[container].append(used_s)
                found.points.append(Point(container, time.perf_counter() - began_s, used_s))
    for container in CONTAINERS:
        figure = f"median {statistics.median(taken[container]):.1f} ms of {rounds} PUTs"
        found.lines.append(Line(f"{name}: {container}", figure))
    found.lines.append(Line(f"{name}: on disk", f"{its.stored_bytes() / 1e6:.2f} MB of {2 * BYTES / 1e6:.0f}"))
