"""Figure 12: documents of one tenant, compressed and encrypted."""

from __future__ import annotations

import argparse
import random
import time

from benchmarks.storage.figures.figure import Measurements, Point, ratio
from benchmarks.storage.figures.store import TENANT, ruled_store, text
from benchmarks.storage.table import Line

PRINTED = "Documents of a tenant, compressed and encrypted: GETs 13 % slower, PUTs 7 % slower, 65 % less space."
DIFFERS = """The documents are not public: texts of 0.2 to 2 MB, sizes log-normal around 1 MB (sigma 0.5), of words
drawn by Zipf's law. Compression is zstd, encryption AES-GCM, both at the proxy; then both at the object server."""
_RULES = {
    "plain": "",
    "documents": "SET COMPRESSION, SET ENCRYPTION",
    "at the server": "SET COMPRESSION ON OBJECT, SET ENCRYPTION ON OBJECT",
}
_WANTED = {"PUT": 1.07, "GET": 1.13}


def measure(options: argparse.Namespace) -> Measurements:
    """Put and read documents into containers with the rules, and into one without, in turn."""
    drawn = random.Random(12)
    found = Measurements("seconds", "ms")
    taken: dict[tuple[str, str], list[float]] = {(c, m): [] for c in _RULES for m in _WANTED}
    kept, places = dict.fromkeys(_RULES, 0), [name.replace(" ", "-") for name in _RULES]
    with ruled_store(places) as its:
        rules = zip(places, _RULES.values(), strict=True)
        its.rule(*(f"FOR CONTAINER {TENANT}/{text} DO {action}" for text, action in rules if action))
        began_s, asked = time.perf_counter(), 0
        for place in range(-3, options.rounds):
            content = text(min(max(int(drawn.lognormvariate(13.8, 0.5)), 200_000), 2_000_000), drawn)
            asked += len(content) if place >= 0 else 0
            for container in _RULES if place % 2 else reversed(_RULES):
                before, path = its.stored_bytes() if place % 10 == 0 else 0, f"{container.replace(' ', '-')}/{place}"
                for method in _WANTED:
                    used_ms = its.timed_ms(method, path, content)
                    if place >= 0:
                        taken[container, method].append(used_ms)
                        series = f"{method} {container}"
                        found.points.append(Point(series, time.perf_counter() - began_s, used_ms))
                if place >= 0 and place % 10 == 0:
                    kept[container] += its.stored_bytes() - before
                its.timed_ms("DELETE", path)
    for container in list(_RULES)[1:]:
        for method, goal in _WANTED.items():
            one = ratio(taken[container, method], taken["plain", method])
            told = f"{one} of that without"
            found.lines.append(Line(f"{container}: {method}", told, f"<= {goal}", one.middle <= goal))
        saved = 1 - kept[container] / kept["plain"]
        found.lines.append(Line(f"{container}: space", f"{saved:.0%} less", ">= 65 %", saved >= 0.65))
    return found
