"""Ceph's limit on a user's reads, and Zoe's guarantees before the same Ceph, each with one gateway and two.

    python -m benchmarks.storage.beside_ceph --seconds 120

Needs the Ceph 18 of Debian 13, whose gateways limit the bytes of a user in a minute. Ceph: the user `gold` may read
LIMIT at each gateway, and reads as fast as it can at one, then at both. Zoe: with two proxies of ONE_PROXY each, LIMIT
is guaranteed to `gold`, whose clients read at one, then at both, beside a tenant with unlimited demand; the rest is
shared equally. Figures are MB/s over the whole time, and of windows of five seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx

from benchmarks.storage.stand import TENANTS, stand
from storage_bridge.model import BandwidthSlo
from zoe_embedded.ceph.store import CephStore
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.behind import line_to_ceph
from zoe_embedded.swift.configuration import StoreBehind

MB = 10**6
LIMIT, ONE_PROXY = 6 * MB, 8 * MB
_OBJECT_BYTES, _READERS, _WINDOW_S, _WARM_UP_S, _PAUSE_S = MB, 2, 5.0, 5.0, 0.05


class Readers:
    """Read one object repeatedly at some URLs, and record times and bytes; refused requests are repeated."""

    def __init__(self, token: str, urls: Sequence[str]) -> None:
        self.pieces: list[tuple[float, int]] = []
        self.refused = 0
        self._token, self._over = token, threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(url,)) for url in urls for _ in range(_READERS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _read(self, url: str) -> None:
        with httpx.Client(timeout=60, headers={"X-Auth-Token": self._token}, trust_env=False) as http:
            while not self._over.is_set():
                with http.stream("GET", url) as answer:
                    if answer.status_code != 200:
                        self.refused += 1
                        time.sleep(_PAUSE_S)
                        continue
                    for piece in answer.iter_raw():
                        self.pieces.append((time.monotonic(), len(piece)))
                        if self._over.is_set():
                            return


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    seconds = parser.parse_args().seconds
    with (
        tempfile.TemporaryDirectory(prefix="zoe-behind-") as apart,
        CephStore(Path(apart) / "ceph", gateways=2) as ceph,
    ):
        Path(apart).chmod(0o711)
        line = line_to_ceph(Home.find(CLONE).create(), ceph, TENANTS, "key")
        _ours(line, seconds)
        _theirs(ceph, seconds)


def _theirs(ceph: CephStore, seconds: float) -> None:
    ceph.admin("ratelimit", "set", "--ratelimit-scope=user", "--uid=gold", f"--max-read-bytes={LIMIT * 60}")
    ceph.admin("ratelimit", "enable", "--ratelimit-scope=user", "--uid=gold")
    with httpx.Client(timeout=60, trust_env=False) as http:
        login = {"X-Auth-User": "gold:swift", "X-Auth-Key": "key-gold"}
        signed_in = http.get(ceph.auth_url, headers=login).raise_for_status().headers
    url, token = signed_in["X-Storage-Url"], signed_in["X-Auth-Token"]
    places = [f"{text}{url.removeprefix(ceph.url)}/of-gold/object" for text in ceph.urls]
    for some in (places[:1], places):
        _print_rates("Ceph's limit", len(some), *_read(token, some, seconds))


def _ours(line: StoreBehind, seconds: float) -> None:
    with stand(behind=line, proxies=2) as its, ExitStack() as undo:
        controller = undo.enter_context(its.controller(BandwidthSlo(ONE_PROXY, ONE_PROXY)))
        controller.set_slo("gold", BandwidthSlo(LIMIT))
        first, *_ = urls = its.store.proxy_urls

        found: dict[str, list[str]] = {}
        for tenant in ("gold", "silver"):
            person = its.people[tenant]
            person.put(f"of-{tenant}")  # all users of Ceph share names of containers
            person.put(f"of-{tenant}/object", os.urandom(_OBJECT_BYTES))
            path = person.account_url.removeprefix(first)
            found[tenant] = [f"{url}{path}/of-{tenant}/object" for url in urls]
        other = Readers(its.people["silver"].token, found["silver"])
        undo.callback(other.stop)
        for some in (found["gold"][:1], found["gold"]):
            _print_rates("Zoe's promise", len(some), *_read(its.people["gold"].token, some, seconds))


def _read(token: str, places: Sequence[str], seconds: float) -> tuple[list[float], int]:
    """Return bytes a second in windows, and the number of refusals."""
    readers = Readers(token, places)
    time.sleep(_WARM_UP_S)
    from_s = time.monotonic()
    time.sleep(seconds)
    readers.stop()
    rates = [0.0] * int(seconds / _WINDOW_S)
    for at_s, size in readers.pieces:
        place = int((at_s - from_s) // _WINDOW_S)
        if 0 <= place < len(rates):
            rates[place] += size / _WINDOW_S
    return rates, readers.refused


def _print_rates(what: str, gateways: int, rates: Sequence[float], refused: int) -> None:
    told = [statistics.mean(rates), statistics.median(rates), min(rates), max(rates)]
    mean, median, least, most = (f"{value / MB:.2f}" for value in told)
    windows = f"windows of {_WINDOW_S:g} s: median {median}, {least} to {most}"
    limit = f"{what} of {LIMIT / MB:g} MB/s, at {gateways} of two gateways"
    print(f"{limit}: {mean} MB/s; {windows}; refused {refused} times", flush=True)


if __name__ == "__main__":
    main()
