"""Check that SLOs hold: three tenants with ten streams each, at 60 % of the store's rate in this run without limits."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.storage.client import OBJECT_BYTES, Client, prepare
from benchmarks.storage.stand import TENANTS, Stand, stand
from benchmarks.storage.table import Line
from storage_bridge.model import BandwidthDemand, BandwidthSlo
from storage_bridge.zoe_controller import ZoeController

MB = 10**6
UNCAPPED_S = 10.0
WARM_S = 3.0
SETTLE_S = 2.0
AFTER_CHANGE_S = 12
SHARE_OF_UNCAPPED = 0.6
SHARES = {"gold": 0.5, "silver": 0.25}
CHANGED = {"gold": 0.25, "silver": 0.5}
WINDOWS_HELD = 0.99
JAIN = 0.98
USED = 0.95


@dataclass(frozen=True)
class Window:
    """One second: bytes per second of each tenant."""

    rates: Mapping[str, float]

    def is_met(self, slos: Mapping[str, float]) -> bool:
        """Return whether every tenant got its guarantee."""
        return all(self.rates[tenant] >= slo for tenant, slo in slos.items())


def measure(options: argparse.Namespace) -> list[Line]:
    """Measure reads, then writes."""
    return [line for direction in ("get", "put") for line in _measure(direction, options.windows)]


def _measure(direction: str, windows: int) -> list[Line]:
    """Measure on a separate store, since proxies keep the last limits of a stopped controller."""
    with stand(proxy_workers=2) as its:
        content = os.urandom(OBJECT_BYTES)
        for person in its.people.values():
            prepare(person, content)
        return _measure_on(its, direction, windows)


def _measure_on(its: Stand, direction: str, windows: int) -> list[Line]:
    with _clients(its, direction) as clients:
        time.sleep(WARM_S)
        [before] = _windows(clients, 1, UNCAPPED_S)
        uncapped = sum(before.rates.values())
        capacity = int(SHARE_OF_UNCAPPED * uncapped)
        with its.controller(BandwidthSlo(capacity, capacity)) as controller:
            lines = [Line(f"{direction}: uncapped rate, capacity", f"{uncapped / MB:.0f}, {capacity / MB:.0f} MB/s")]
            lines += _measure_held(controller, clients, direction, capacity, windows)
            lines += _measure_change(controller, clients, direction, capacity)
            lines += _infeasible(controller, direction, capacity)
            lines += _measure_stop(controller, clients, direction, capacity)
            for tenant in SHARES:
                controller.clear_slo(tenant)
    return lines


def _measure_held(
    controller: ZoeController, clients: Mapping[str, Client], direction: str, capacity: int, count: int
) -> list[Line]:
    slos = _promise(controller, direction, capacity, SHARES)
    time.sleep(SETTLE_S)
    windows = _windows(clients, count)
    lines = []
    for tenant, slo in slos.items():
        held = sum(window.is_met({tenant: slo}) for window in windows) / count
        mean, least = _mean(windows, tenant), min(window.rates[tenant] for window in windows)
        figure = f"{held:.1%} of {count} windows; mean {mean / slo:.2f}, least {least / slo:.2f} of the SLO"
        lines.append(Line(f"{direction}: SLO of {SHARES[tenant]:.0%}", figure, ">= 99 %", held >= WINDOWS_HELD))
    spare = [_mean(windows, tenant) - slos.get(tenant, 0.0) for tenant in TENANTS]
    jain = sum(spare) ** 2 / (len(spare) * sum(share**2 for share in spare))
    shares = ", ".join(f"{share / MB:.1f}" for share in spare)
    lines.append(Line(f"{direction}: spare shared", f"Jain {jain:.4f} ({shares} MB/s)", f">= {JAIN}", jain >= JAIN))
    used = sum(_mean(windows, tenant) for tenant in TENANTS) / capacity
    return [*lines, Line(f"{direction}: capacity used", f"{used:.1%}")]


def _measure_change(
    controller: ZoeController, clients: Mapping[str, Client], direction: str, capacity: int
) -> list[Line]:
    """Swap the promises of gold and silver."""
    slos = _promise(controller, direction, capacity, CHANGED)
    time.sleep(SETTLE_S)
    held = sum(window.is_met(slos) for window in _windows(clients, AFTER_CHANGE_S))
    figure = f"{held} of {AFTER_CHANGE_S} windows hold"
    return [Line(f"{direction}: changed live, after {SETTLE_S:g} s", figure, "all", held == AFTER_CHANGE_S)]


def _infeasible(controller: ZoeController, direction: str, capacity: int) -> list[Line]:
    """Check that an infeasible SLO is refused, and that its shortfall is reported if it is set anyway, as in
    Crystal.
    """
    refused = controller.feasible(BandwidthDemand("bronze", _slo(direction, capacity)))
    _promise(controller, direction, capacity, {"gold": 0.8, "silver": 0.6})
    time.sleep(SETTLE_S)
    missed = controller.missed_bandwidth()
    _promise(controller, direction, capacity, CHANGED)
    total = sum(entry.read_bytes_per_s + entry.write_bytes_per_s for entry in missed.values())
    figure = f"{len(missed)} tenants miss {total / capacity:.0%} of the capacity in all"
    return [
        Line(f"{direction}: infeasible, asked before", refused.sentence, "refused", not refused.feasible),
        Line(f"{direction}: 80 % and 60 % promised", figure, "40 %", abs(total / capacity - 0.4) < 0.02),
    ]


def _measure_stop(
    controller: ZoeController, clients: Mapping[str, Client], direction: str, capacity: int
) -> list[Line]:
    """Stop all streams of silver, which has half of the capacity."""
    time.sleep(SETTLE_S)
    clients["silver"].stop()
    time.sleep(SETTLE_S)
    windows = _windows({name: clients[name] for name in ("gold", "bronze")}, AFTER_CHANGE_S)
    used = [sum(window.rates.values()) / capacity for window in windows]
    enough = sum(share >= USED for share in used)
    controller.slos()
    worst = used.index(min(used))
    figure = (
        f"{enough} of {len(used)} windows use {USED:.0%} of the capacity, least {used[worst]:.1%} (window {worst + 1})"
    )
    return [Line(f"{direction}: a tenant stops, after {SETTLE_S:g} s", figure, "all", enough == len(used))]


@contextmanager
def _clients(its: Stand, direction: str) -> Iterator[Mapping[str, Client]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(Client(person, direction)) for name, person in its.people.items()}


def _promise(controller: ZoeController, direction: str, capacity: int, shares: Mapping[str, float]) -> dict[str, float]:
    slos = {tenant: int(share * capacity) for tenant, share in shares.items()}
    for tenant, rate in slos.items():
        controller.set_slo(tenant, _slo(direction, rate))
    return {tenant: float(rate) for tenant, rate in slos.items()}


def _slo(direction: str, rate: int) -> BandwidthSlo:
    return BandwidthSlo(rate, None) if direction == "get" else BandwidthSlo(None, rate)


def _windows(clients: Mapping[str, Client], count: int, length_s: float = 1.0) -> list[Window]:
    """Return windows from now on."""
    start_s = time.monotonic()
    time.sleep(count * length_s + 0.5)  # reports lag by a tenth of a second
    times = [start_s + number * length_s for number in range(count)]
    return [Window({t: client.rate(at_s, at_s + length_s) for t, client in clients.items()}) for at_s in times]


def _mean(windows: Sequence[Window], tenant: str) -> float:
    return sum(window.rates[tenant] for window in windows) / len(windows)
