"""A promise that allows for the loss of a proxy: kept with readers at both, and when all of them have moved to one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import psutil
import pytest

from storage_bridge.model import BandwidthSlo, StorageRefusedError
from tests.storage.test_bandwidth_of_executions import KEPT_SHARE, RENEWED_EACH_S, windows
from tests.support.long import LONG
from tests.support.object_store import Person, logged_in
from tests.support.postgres import PostgresServer
from tests.support.whole_storage import MB, Whole, whole_storage

OF_ONE_PROXY, PROMISED = 8 * MB, 6 * MB
MEASURED_S = 60.0 if LONG else 6.0
WARM_UP_S, MOVED_WITHIN_S = 3.0, 1.0
READERS = 2
"""Of each tenant at each proxy."""


@pytest.fixture(scope="module")
def whole(postgres_server: PostgresServer) -> Iterator[Whole]:
    url = postgres_server.create_database()
    with whole_storage(url, OF_ONE_PROXY, proxies=2) as made:
        yield made
    postgres_server.drop_database(url)


class Readers:
    """Clients that read one object repeatedly at a proxy, and at the first one once that is gone."""

    def __init__(self, person: Person, urls: list[str]) -> None:
        self.pieces: list[tuple[float, int]] = []
        self._over = threading.Event()
        path = person.account_url.removeprefix(urls[0])
        self._threads = [
            threading.Thread(target=self._read, args=(person.token, url + path, urls[0] + path))
            for url in urls
            for _ in range(READERS)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _read(self, token: str, url: str, other: str) -> None:
        while not self._over.is_set():
            try:
                self._again_and_again(token, url)
            except httpx.HTTPError:
                url = other

    def _again_and_again(self, token: str, url: str) -> None:
        with httpx.Client(timeout=10, headers={"X-Auth-Token": token}) as http:
            while not self._over.is_set():
                with http.stream("GET", f"{url}/data/object") as answer:
                    assert answer.status_code == 200
                    for chunk in answer.iter_raw():
                        self.pieces.append((time.monotonic(), len(chunk)))
                        if self._over.is_set():
                            return


def sleep_and_renew(whole: Whole, seconds: float) -> None:
    """Wait, and renew the lease of the promise as polls of the master do: it is shorter than the long form."""
    until_s = time.monotonic() + seconds
    while (left_s := until_s - time.monotonic()) > 0:
        whole.controller.slos()
        time.sleep(min(left_s, RENEWED_EACH_S))


def kept(readers: Readers, from_s: float, until_s: float) -> float:
    rates = windows(readers.pieces, from_s, until_s)
    print(f"least {min(rates) / MB:.1f}, most {max(rates) / MB:.1f} MB/s in windows of a second")
    return sum(rate >= PROMISED for rate in rates) / len(rates)


def test_promise_of_one_proxys_bandwidth_survives_the_loss_of_the_other(whole: Whole) -> None:
    with pytest.raises(StorageRefusedError, match="more than the"):
        whole.controller.set_slo("acme", BandwidthSlo(OF_ONE_PROXY + 1))
    with ExitStack() as undo:
        people = [undo.enter_context(logged_in(whole.store, login)) for login in ("acme:ann", "beta:bob")]
        for person in people:
            person.put("data")
            person.put("data/object", os.urandom(8 * MB))
        whole.controller.set_slo("acme", BandwidthSlo(PROMISED))
        urls = whole.store.proxy_urls
        promised, other = [Readers(person, urls) for person in people]
        undo.callback(other.stop)
        undo.callback(promised.stop)
        time.sleep(WARM_UP_S)
        from_s = time.monotonic()
        sleep_and_renew(whole, MEASURED_S)
        lost_s = time.monotonic()
        lost = psutil.Process(whole.store.processes["proxy-2"])
        for process in (lost, *lost.children(recursive=True)):
            process.kill()
        sleep_and_renew(whole, MOVED_WITHIN_S + MEASURED_S)
        until_s = time.monotonic()
    assert kept(promised, from_s, lost_s) >= KEPT_SHARE
    assert kept(promised, lost_s + MOVED_WITHIN_S, until_s) >= KEPT_SHARE
    for when in ((from_s, lost_s), (lost_s + MOVED_WITHIN_S, until_s)):
        assert max(windows(other.pieces, *when)) > 0, "unguaranteed bandwidth is lent"
    total = windows(promised.pieces + other.pieces, lost_s + MOVED_WITHIN_S, until_s)
    assert max(total) < 1.3 * OF_ONE_PROXY
