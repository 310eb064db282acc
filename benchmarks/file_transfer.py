"""Memory of the API and of the file server during the upload and download of a large file, with interruptions.

`python -m benchmarks.file_transfer store`: to a container of an OpenStack Swift on this machine instead.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from benchmarks.ranges import Table
from benchmarks.support import machine, temporary_home
from zoe_client import Client
from zoe_client.errors import ZoeError
from zoe_client.vocabulary import STORE_ROOT, WorkspaceKind
from zoe_client.wire import CredentialRequest
from zoe_embedded.home import Home
from zoe_embedded.stack import Stack
from zoe_embedded.swift.configuration import REGION, StoreConfiguration, StoreUser
from zoe_embedded.swift.store import ObjectStore

MIB = 2**20
SIZE_BYTES = int(os.environ.get("ZOE_BENCH_FILE_MIB", "5000")) * MIB
CUTS = (0.2, 0.5, 0.8)
SAMPLE_S = 0.05
SERVICE = "zoe"


class CutError(ZoeError):
    """Stands for a client that disconnects in the middle."""


class Cuts:
    """Interrupts the transfer once at each of the shares; the next call continues."""

    def __init__(self) -> None:
        self._left = list(CUTS)
        self.count = 0

    def __call__(self, done: int, total: int) -> None:
        """Receive the progress."""
        if self._left and done >= self._left[0] * total:
            self._left.pop(0)
            self.count += 1
            raise CutError("cut")

    def through(self, transfer: Callable[[], None]) -> float:
        """Return the seconds of the transfer, all calls together."""
        began_s = time.perf_counter()
        while True:
            with suppress(CutError):
                transfer()
                return time.perf_counter() - began_s


def main() -> int:
    """Measure, and print the figures beside the goals."""
    print(f"{machine()}; a file of {SIZE_BYTES // MIB:,} MiB, {len(CUTS)} cuts in each direction")
    in_store = sys.argv[1:] == ["store"]
    with temporary_home() as home, swift(home, wanted=in_store) as store:
        return measure(home, store)


def measure(home: Home, store: ObjectStore | None) -> int:
    """Measure the transfer to the store, or to a workspace without one."""
    table = Table("files" if store is None else "files in the object store")
    settings = {} if store is None else {"storage_services": {SERVICE: {"url": store.auth_url, "region": REGION}}}
    with Stack(home, spark=False, settings=settings) as stack, Client(stack.url, stack.token) as client:
        root, path = prepare(client, store)
        source, back = home.path.parent / "source.bin", home.path.parent / "back.bin"
        wanted = write_file(source)
        api = process_of("zoe_api.main")
        server = process_of("zoe_files.main" if store is None else "proxy-server")
        with peak_growth(api) as grown, peak_growth(server) as grown_server:
            up = Cuts()
            up_s = up.through(lambda: client.files.upload(source, path, root, progress=up))
        table.row("API grown while it goes up, MiB", grown)
        table.row("program grown while it goes up, MiB", grown_server)
        with peak_growth(api) as grown, peak_growth(server) as grown_server:
            down = Cuts()
            down_s = down.through(lambda: client.files.download(path, back, root, progress=down))
        table.row("API grown while it comes back, MiB", grown)
        table.row("program grown while it comes back, MiB", grown_server)
        assert (up.count, down.count) == (len(CUTS), len(CUTS))
        if digest_of(back) != wanted:
            print("the downloaded bytes differ")
            return 1
        print(f"up {SIZE_BYTES / MIB / up_s:,.0f} MiB/s, back {SIZE_BYTES / MIB / down_s:,.0f} MiB/s; equal by SHA-256")
    return table.close()


@contextmanager
def swift(home: Home, *, wanted: bool) -> Iterator[ObjectStore | None]:
    """Run an object store with one copy of each object, if requested."""
    if not wanted:
        yield None
        return
    account = home.server_account
    users = [StoreUser("default", "default", home.secret("swift-default"))]
    configuration = StoreConfiguration(users, nodes=1, replicas=1, run_as=account.name if account else None)
    with ObjectStore(home, home.path / "swift", configuration) as store:
        yield store


def prepare(client: Client, store: ObjectStore | None) -> tuple[str, str]:
    """Return root and path of the file, once its program runs or its container exists."""
    if store is None:
        list(client.files.list())
        return WorkspaceKind.WORKSPACE, "big.bin"
    user = store.user("default:default")
    client.set_storage_credential(SERVICE, CredentialRequest(user=user.login, key=user.key))
    root = f"{STORE_ROOT}{SERVICE}"
    client.files.make_directory("large", root)
    return root, "large/big.bin"


def write_file(path: Path) -> str:
    """Write a file of bytes without repetitions; return its SHA-256."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for _ in range(SIZE_BYTES // MIB):
            piece = os.urandom(MIB)
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def process_of(word: str) -> psutil.Process:
    """Return the process of this stack whose command line has the word."""
    return next(p for p in psutil.Process().children(recursive=True) if any(word in part for part in p.cmdline()))


@contextmanager
def peak_growth(process: psutil.Process) -> Iterator[list[float]]:
    """Yield a list which has, at the end, the greatest growth in MiB."""
    before, ended, found = process.memory_info().rss, threading.Event(), [0.0]

    def watch() -> None:
        while not ended.wait(SAMPLE_S):
            found[0] = max(found[0], (process.memory_info().rss - before) / MIB)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()


if __name__ == "__main__":
    sys.exit(main())
