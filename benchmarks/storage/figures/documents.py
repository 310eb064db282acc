"""Figure 12: documents of one tenant, compressed and encrypted."""

from __future__ import annotations

import argparse
import random
import time

from benchmarks.storage.figures.figure import Measured, Point, ratio
from benchmarks.storage.figures.store import TENANT, ruled_store, text
from benchmarks.storage.table import Line

PRINTED = "Documents of a tenant, compressed and encrypted: GETs 13 % slower, PUTs 7 % slower, 65 % less space."
DIFFERS = """The documents are not public: texts of 0.2 to 2 MB, sizes log-normal around 1 MB (sigma 0.5), of words
drawn by Zipf's law. Compression is zstd, encryption AES-GCM, both at the proxy."""
_TYPES = ("plain", "documents")


def measure(options: argparse.Namespace) -> Measured:
    """Put and read documents into a container with the rule, and into one without, in turn."""
    drawn = random.Random(12)
    found = Measured("seconds", "ms")
    taken: dict[tuple[str, str], list[float]] = {(c, m): [] for c in _TYPES for m in ("PUT", "GET")}
    kept = dict.fromkeys(_TYPES, 0)
    with ruled_store(_TYPES) as its:
        its.rule(f"FOR CONTAINER {TENANT}/documents DO SET COMPRESSION, SET ENCRYPTION")
        began_s, asked = time.perf_counter(), 0
        for place in range(-3, options.rounds):
            content = text(min(max(int(drawn.lognormvariate(13.8, 0.5)), 200_000), 2_000_000), drawn)
            asked += len(content) if place >= 0 else 0
            for container in _TYPES if place % 2 else reversed(_TYPES):
                before = its.stored_bytes() if place % 10 == 0 else 0
                for method in ("PUT", "GET"):
                    used_ms = its.timed_ms(method, f"{container}/{place}", content)
                    if place >= 0:
                        taken[container, method].append(used_ms)
                        series = f"{method} {container}"
                        found.points.append(Point(series, time.perf_counter() - began_s, used_ms))
                if place >= 0 and place % 10 == 0:
                    kept[container] += its.stored_bytes() - before
                its.timed_ms("DELETE", f"{container}/{place}")
    for method, goal, printed in (("PUT", 1.07, "1.07"), ("GET", 1.13, "1.13")):
        one = ratio(taken["documents", method], taken["plain", method])
        found.lines.append(Line(f"{method}", f"{one} of that without", f"<= {printed}", one.middle <= goal))
    saved = 1 - kept["documents"] / kept["plain"]
    found.lines.append(Line("space", f"{saved:.0%} less", ">= 65 %", saved >= 0.65))
    return found
