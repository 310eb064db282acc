"""Figure 17: replication uses guaranteed bandwidth, unless a controller limits it."""

from __future__ import annotations

import argparse
import os
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.storage.client import OBJECT_BYTES, Client, prepare
from benchmarks.storage.figures.figure import Measurements, Point
from benchmarks.storage.slo import MB, SETTLE_S, SHARE_OF_UNCAPPED, SHARES, UNCAPPED_S, WARM_S
from benchmarks.storage.stand import TENANTS, Stand, stand
from benchmarks.storage.table import Line
from storage_bridge.model import BandwidthSlo

PRINTED = """Replication at 221 MB/s between the storage nodes breaks the SLOs of tenants that read; a controller that
holds it at 5 MB/s restores them."""
DIFFERS = """One proxy, two nodes and all clients on one machine of two cores, so replication takes their CPU, not only
disks; its objects are those of a device that is emptied again and again. Without a controller, replication is as fast
as the machine lets it be."""
HELD_BYTES_PER_S = 5 * MB
_PHASES = ("none", "not held", "held")
_AGAIN_S = 0.5
_DEVICE = ("devices", "node2", "d2", "objects")


def measure(options: argparse.Namespace) -> Measurements:
    """Read with three tenants: without replication, with it, and with the controller on."""
    found, seconds = Measurements("seconds", "MB/s"), max(options.rounds // 10, 8)
    with stand(nodes=2, replicas=2, proxy_workers=2) as its:
        content = os.urandom(OBJECT_BYTES)
        for person in its.people.values():
            prepare(person, content)
        clients = {name: Client(person, "get") for name, person in its.people.items()}
        for client in clients.values():
            client.__enter__()
        try:
            _phases(its, clients, seconds, found)
        finally:
            for entry in clients.values():
                entry.stop()
    return found


def _phases(its: Stand, clients: Mapping[str, Client], seconds: int, found: Measurements) -> None:
    time.sleep(WARM_S)
    began_s = time.monotonic()
    time.sleep(UNCAPPED_S)
    capacity = int(SHARE_OF_UNCAPPED * sum(client.rate(began_s, time.monotonic()) for client in clients.values()))
    its.site.further["replication_bytes_per_s"] = HELD_BYTES_PER_S
    with its.controller(BandwidthSlo(capacity, capacity)) as controller:
        slos = {tenant: int(share * capacity) for tenant, share in SHARES.items()}
        for tenant, rate in slos.items():
            controller.set_slo(tenant, BandwidthSlo(rate, None))
        for number, phase in enumerate(_PHASES):
            _switch(its, "on" if phase == "held" else "off")
            with _Replicating(its) if phase != "none" else _Nothing() as copied:
                time.sleep(SETTLE_S)
                before, begin_s = copied.bytes, time.monotonic()
                time.sleep(seconds + 0.5)  # reports lag by a tenth of a second
                moved = (copied.bytes - before) / (time.monotonic() - begin_s)
            _tell(clients, slos, phase, number * (seconds + 2), begin_s, seconds, found)
            found.lines.append(Line(f"{phase}: replication", f"{moved / MB:.1f} MB/s arrive at the emptied device"))


def _tell(
    clients: Mapping[str, Client],
    slos: Mapping[str, int],
    phase: str,
    offset: int,
    begin_s: float,
    seconds: int,
    found: Measurements,
) -> None:
    found.split.append((offset, f"replication {phase}"))
    for tenant in TENANTS:
        rates = [clients[tenant].rate(begin_s + i, begin_s + i + 1) for i in range(seconds)]
        found.points += [Point(tenant, offset + i, rate / MB) for i, rate in enumerate(rates)]
        if (slo := slos.get(tenant)) is None:
            continue
        kept = sum(rate >= slo for rate in rates) / seconds
        figure = (
            f"{sum(rates) / seconds / MB:.1f} MB/s; its SLO {slo / MB:.1f} in {kept:.0%} of {seconds} windows of 1 s"
        )
        wanted = phase != "not held"
        found.lines.append(Line(f"{phase}: {tenant}", figure, ">= 99 %" if wanted else "", not wanted or kept >= 0.99))


def _switch(its: Stand, mode: str) -> None:
    url, headers = f"{its.site.urls[0]}/v1/controllers/replication", {"X-Auth-Token": its.site.token}
    httpx.put(url, json={"mode": mode}, headers=headers, timeout=30, trust_env=False).raise_for_status()


class _Nothing:
    bytes = 0

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to end."""


class _Replicating(_Nothing):
    """Empties the second node's device and lets the first one's replicator fill it, repeatedly. bytes: arrived so
    far.
    """

    def __init__(self, its: Stand) -> None:
        self._store = its.store
        self._device = its.store.directory.joinpath(*_DEVICE)
        self._over = threading.Event()
        self._threads = [threading.Thread(target=entry) for entry in (self._fill, self._count)]

    def __enter__(self) -> _Replicating:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _fill(self) -> None:
        while not self._over.is_set():
            shutil.rmtree(self._device, ignore_errors=True)
            self._store.replicate(1)

    def _count(self) -> None:
        before = self._bytes_on_device()
        while not self._over.wait(_AGAIN_S / 5):
            now = self._bytes_on_device()
            self.bytes += max(now - before, 0)
            before = now

    def _bytes_on_device(self) -> int:
        """Return the bytes of complete objects on the device; an object that vanishes meanwhile counts as zero."""
        total = 0
        for folder, _, names in os.walk(self._device):
            for name in names:
                with suppress(OSError):
                    total += (Path(folder) / name).stat().st_size if name.endswith(".data") else 0
        return total
