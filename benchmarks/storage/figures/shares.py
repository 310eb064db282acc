"""Figure 14: each tenant gets its SLO, and an equal share of what is left."""

from __future__ import annotations

import argparse
import os
import time

from benchmarks.storage.client import OBJECT_BYTES, Client, prepare
from benchmarks.storage.figures.figure import Measured, Point
from benchmarks.storage.slo import MB, SETTLE_S, SHARE_OF_UNCAPPED, SHARES, UNCAPPED_S, WARM_S
from benchmarks.storage.stand import TENANTS, Stand, stand
from benchmarks.storage.table import Line
from storage_bridge.model import BandwidthSlo

PRINTED = "Three tenants with ten streams each: each gets its SLO plus an equal share of what is left, for GET and PUT."
DIFFERS = """One proxy, two nodes and all clients on one machine; the promised bandwidth is 60 % of what the store moves
at most."""
_LEFT = 0.25
_DIRECTIONS = ("get", "put")


def measure(options: argparse.Namespace) -> Measured:
    """Measure GETs, then PUTs: half of the time without an SLO, then with two."""
    found = Measured("seconds", "MB/s")
    for direction in _DIRECTIONS:
        with stand(proxy_workers=2) as its:
            content = os.urandom(OBJECT_BYTES)
            for person in its.people.values():
                prepare(person, content)
            _shared(its, direction, max(options.rounds // 10, 5), found)
    return found


def _shared(its: Stand, direction: str, windows: int, found: Measured) -> None:
    clients = {name: Client(person, direction) for name, person in its.people.items()}
    for one in clients.values():
        one.__enter__()
    try:
        time.sleep(WARM_S)
        began_s = time.monotonic()
        time.sleep(UNCAPPED_S)
        capacity = int(SHARE_OF_UNCAPPED * sum(one.rate(began_s, time.monotonic()) for one in clients.values()))
        with its.controller(BandwidthSlo(capacity, capacity)) as controller:
            slos = {tenant: int(share * capacity) for tenant, share in SHARES.items()}
            for tenant, rate in slos.items():
                wanted = BandwidthSlo(rate, None) if direction == "get" else BandwidthSlo(None, rate)
                controller.set_slo(tenant, wanted)
            time.sleep(SETTLE_S)
            begin_s = time.monotonic()
            time.sleep(windows + 0.5)  # reports lag by a tenth of a second
    finally:
        for one in clients.values():
            one.stop()
    rates = {t: [clients[t].rate(begin_s + i, begin_s + i + 1) for i in range(windows)] for t in TENANTS}
    offset = (windows + 2) * _DIRECTIONS.index(direction)
    found.split.append((offset, direction.upper()))
    for tenant in TENANTS:
        found.points += [Point(f"{tenant}, {direction}", offset + i, r / MB) for i, r in enumerate(rates[tenant])]
        slo = slos.get(tenant, 0)
        wanted = slo + _LEFT / len(TENANTS) * capacity
        mean = sum(rates[tenant]) / windows
        held = sum(rate >= slo for rate in rates[tenant]) / windows
        figure = f"{mean / MB:.1f} MB/s; its SLO {slo / MB:.1f} in {held:.0%} of 1 s windows"
        goal = f"{wanted / MB:.1f} MB/s"
        found.lines.append(
            Line(f"{direction}: {tenant}", figure, goal, abs(mean - wanted) <= 0.1 * wanted and held >= 0.99)
        )
