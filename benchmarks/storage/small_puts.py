"""Small uploads by S3: at a bare store, and at the gateway before it.

    python -m benchmarks.storage.small_puts --puts 300

For each store, the median time of an upload of 1 KB, alternating between both; the gateway's CPU time and its requests
to the store for each upload.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil

from benchmarks.storage.table import load
from benchmarks.support import machine
from tests.support.counting_relay import CountingRelay, counting_relay
from tests.support.gateway import GATEWAY
from tests.support.object_store import USERS, object_store
from tests.support.s3 import S3Client, s3_client
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.behind import seaweedfs_behind
from zoe_embedded.swift.configuration import StoreBehind
from zoe_embedded.swift.store import ObjectStore

LOGIN, BUCKET, BYTES, WARM = "acme:ann", "small", 1024, 20


@dataclass(frozen=True)
class Stand:
    """Clients of a bare store and of the gateway before it; the relay between both."""

    bare: S3Client
    through: S3Client
    gateway: ObjectStore
    relay: CountingRelay

    def cpu_s(self) -> float:
        """Return the CPU time of the gateway until now."""
        process = psutil.Process(self.gateway.processes["proxy"])
        return sum(sum(one.cpu_times()[:2]) for one in (process, *process.children(recursive=True)))


@contextmanager
def _before(line: StoreBehind, bare: S3Client) -> Iterator[Stand]:
    """Yield a gateway that reaches its store by a relay, which counts connections: one for each request."""
    with ExitStack() as opened:
        place = urlsplit(line.url)
        relay = opened.enter_context(counting_relay((place.hostname or "", place.port or 0)))
        behind = replace(line, url=line.url.replace(place.netloc, f"127.0.0.1:{relay.port}"))
        gateway = opened.enter_context(object_store(behind=behind, s3=True))
        yield Stand(bare, opened.enter_context(s3_client(gateway, LOGIN)), gateway, relay)


@contextmanager
def swift() -> Iterator[Stand]:
    """Yield Swift, without Zoe's filters, known to the gateway as an S3 store: one address for all requests."""
    with (
        object_store(users=(*USERS, GATEWAY), nodes=1, replicas=1, filters=False, s3=True) as store,
        tempfile.TemporaryDirectory(prefix="zoe-small-") as apart,
        s3_client(store, LOGIN) as bare,
    ):
        Path(apart).chmod(0o711)
        key = Path(apart) / "key"
        key.write_text(GATEWAY.key)
        if (account := Home.find(CLONE).server_account) is not None:
            os.chown(key, account.uid, account.gid)
        url = store.auth_url.removesuffix("/auth/v1.0")
        with _before(StoreBehind(url, GATEWAY.login, str(key), protocol="s3"), bare) as stand:
            yield stand


@contextmanager
def seaweedfs() -> Iterator[Stand]:
    """Yield SeaweedFS."""
    with (
        seaweedfs_behind(Home.find(CLONE).create(), (), "secret") as line,
        httpx.Client(timeout=60) as http,
        _before(line, S3Client(http, line.url, line.user, "secret")) as stand,
    ):
        yield stand


def measure(stand: Stand, puts: int) -> str:
    """Return the figures of a store."""
    content, clients = os.urandom(BYTES), (stand.bare, stand.through)
    for client in clients:
        assert client.call("PUT", BUCKET).status_code == 200
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(puts + WARM):
        if number == WARM:
            before_s, asked = stand.cpu_s(), stand.relay.connections
        for client, its in zip(clients, times, strict=True):
            began_s = time.perf_counter()
            answer = client.call("PUT", f"{BUCKET}/object-{number % 50}", content=content)
            assert answer.status_code == 200, answer.text
            if number >= WARM:
                its.append(1e3 * (time.perf_counter() - began_s))
    bare_ms, through_ms = map(statistics.median, times)
    cpu_ms, requests = 1e3 * (stand.cpu_s() - before_s) / puts, (stand.relay.connections - asked) / puts
    return (
        f"bare {bare_ms:.1f} ms, gateway {through_ms:.1f} ms ({through_ms / bare_ms:.1f} times), "
        f"{cpu_ms:.1f} ms CPU and {requests:.2f} requests each"
    )


def main() -> None:
    """Print the figures of both stores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--puts", type=int, default=300)
    puts = parser.parse_args().puts
    print(machine(), flush=True)
    for name, make in (("Swift", swift), ("SeaweedFS", seaweedfs)):
        with make() as stand:
            print(f"{name}: {measure(stand, puts)}; {load()}", flush=True)


if __name__ == "__main__":
    main()
