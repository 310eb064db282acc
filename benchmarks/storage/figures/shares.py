"""Figures 14, 15 and 16: each tenant gets its SLO, and an equal share of the rest; with limits at proxies or nodes; and
with two proxies and objects of several sizes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.storage.client import OBJECT_BYTES, STREAMS, Client, prepare
from benchmarks.storage.figures.figure import Measurements, Point
from benchmarks.storage.slo import MB, SETTLE_S, SHARE_OF_UNCAPPED, SHARES, UNCAPPED_S, WARM_S
from benchmarks.storage.stand import TENANTS, Stand, stand
from benchmarks.storage.table import Line
from storage_bridge.model import BandwidthSlo

PRINTED_14 = """Three tenants with ten streams each: each gets its SLO plus an equal share of the rest, for GET and
PUT."""
DIFFERS_14 = """One proxy, two nodes and all clients on one machine; the guaranteed bandwidth is 60 % of the store's
maximum."""
PRINTED_15 = "SLOs and equal shares of the rest, with limits at the proxies against limits at the storage nodes."
DIFFERS_15 = """As 14, with two nodes that have a copy of each object. At the nodes, each is said to move half of the
promised bandwidth for GET, and all of it for PUT, since each stores every object."""
PRINTED_16 = "SLOs and equal shares of the rest with two proxies and objects of several sizes."
DIFFERS_16 = """As 14, with two proxies, half of each tenant's streams at either, and objects of 0.1, 1 and 10 MB in
turn; each proxy is said to move half of the promised bandwidth."""
_SIZES_16 = (100_000, 1_000_000, 10_000_000)
_LEFT = 0.25
_DIRECTIONS = ("get", "put")
_NEAR = 0.1
_KEPT = 0.99


@dataclass(frozen=True)
class _Case:
    """One run. store: options of the store; sizes: of objects, by stream; held: bandwidth of each enforcing server, as
    a share of the guaranteed one, by the setting and the server's name.
    """

    label: str
    direction: str
    store: Mapping[str, object] = field(default_factory=dict)
    sizes: Sequence[int] = (OBJECT_BYTES,)
    held: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def measure_figure_14(options: argparse.Namespace) -> Measurements:
    """Measure figure 14."""
    return _measure_cases(options, [_Case(text.upper(), text) for text in _DIRECTIONS])


def at_places(options: argparse.Namespace) -> Measurements:
    """Measure figure 15."""
    both = {"nodes": 2, "replicas": 2}
    cases = []
    for direction in _DIRECTIONS:
        name, share = direction.upper(), 0.5 if direction == "get" else 1.0
        at_nodes = {"bandwidth_nodes": dict.fromkeys(("object-1", "object-2"), share)}
        cases.append(_Case(f"{name} at proxies", direction, both))
        cases.append(_Case(f"{name} at nodes", direction, {**both, "bandwidth_at_nodes": True}, held=at_nodes))
    return _measure_cases(options, cases)


def two_proxies(options: argparse.Namespace) -> Measurements:
    """Measure figure 16."""
    held = {"proxies": dict.fromkeys(("proxy", "proxy-2"), 0.5)}
    return _measure_cases(options, [_Case(text.upper(), text, {"proxies": 2}, _SIZES_16, held) for text in _DIRECTIONS])


def _measure_cases(options: argparse.Namespace, cases: Sequence[_Case]) -> Measurements:
    """Measure each on a separate store, since proxies keep the last limits of a stopped controller."""
    found, windows = Measurements("seconds", "MB/s"), max(options.rounds // 10, 5)
    for number, case in enumerate(cases):
        with stand(proxy_workers=2, **case.store) as its:
            for person in its.people.values():
                prepare(person, *(os.urandom(size) for size in case.sizes))
            _measure_shares(its, case, windows, found, number * (windows + 2))
    return found


def _measure_shares(its: Stand, case: _Case, windows: int, found: Measurements, offset: int) -> None:
    with ExitStack() as undo:
        clients = {name: _clients(its, name, case) for name in its.people}
        for mine in clients.values():
            for client in mine:
                undo.enter_context(client)
        time.sleep(WARM_S)
        began_s = time.monotonic()
        time.sleep(UNCAPPED_S)
        now_s = time.monotonic()
        capacity = int(SHARE_OF_UNCAPPED * sum(_rate(mine, began_s, now_s) for mine in clients.values()))
        for setting, shares in case.held.items():
            its.site.further[setting] = {server: int(share * capacity) for server, share in shares.items()}
            its.site.further["proxies_spare"] = 0
        with its.controller(BandwidthSlo(capacity, capacity)) as controller:
            slos = {tenant: int(share * capacity) for tenant, share in SHARES.items()}
            for tenant, rate in slos.items():
                wanted = BandwidthSlo(rate, None) if case.direction == "get" else BandwidthSlo(None, rate)
                controller.set_slo(tenant, wanted)
            time.sleep(SETTLE_S)
            begin_s = time.monotonic()
            time.sleep(windows + 0.5)  # reports lag by a tenth of a second
    found.split.append((offset, case.label))
    for tenant in TENANTS:
        rates = [_rate(clients[tenant], begin_s + i, begin_s + i + 1) for i in range(windows)]
        found.points += [Point(f"{tenant}, {case.label}", offset + i, r / MB) for i, r in enumerate(rates)]
        found.lines.append(_line(f"{case.label}: {tenant}", rates, slos.get(tenant, 0), capacity))


def _clients(its: Stand, tenant: str, case: _Case) -> list[Client]:
    """Return the clients of a tenant, which share its streams: one for each proxy."""
    person, urls = its.people[tenant], its.store.proxy_urls
    paths = [person.account_url.replace(urls[0], url) for url in urls]
    return [Client(person, case.direction, path, STREAMS // len(urls), case.sizes) for path in paths]


def _rate(clients: Sequence[Client], from_s: float, to_s: float) -> float:
    return sum(client.rate(from_s, to_s) for client in clients)


def _line(name: str, rates: Sequence[float], slo: int, capacity: int) -> Line:
    wanted = slo + _LEFT / len(TENANTS) * capacity
    mean, held = sum(rates) / len(rates), sum(rate >= slo for rate in rates) / len(rates)
    figure = f"{mean / MB:.1f} MB/s; its SLO {slo / MB:.1f} in {held:.0%} of 1 s windows"
    return Line(name, figure, f"{wanted / MB:.1f} MB/s", abs(mean - wanted) <= _NEAR * wanted and held >= _KEPT)
