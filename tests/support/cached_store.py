"""A store in memory, plain and behind two proxies with caches, whose memcached forgets, and cannot always be reached.

Runs in the environment of Swift, with the paths of a keyring and of a directory to make. Each line of input is a list
of requests, each line of output the answers to them: of the plain store, and of the proxy that the request names. A
request may have others `before` or `after` the store does its work: they arrive while it is in progress.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swift.common.swob import Request

from storage_filters.cache.fence import Fence
from storage_filters.cache.fenced_writes import FencedWrites
from storage_filters.cache.files import CacheFiles
from storage_filters.cache.object_cache import ObjectCache
from storage_filters.filter_host.middleware import FilterHost
from storage_filters.rules.documents import RuleBook, read_book
from storage_filters.transforms.keyring import Keyring
from tests.support.memory_store import MemoryStore, _answer, _env

_LEASE_S = 1.0


class _KilledError(BaseException):
    """The proxy ends here, and does nothing more."""


class _Memcached:
    """Shared by all proxies; numbers wrap as in memcached."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}


class _Line:
    """A proxy's connection to it."""

    def __init__(self, server: _Memcached) -> None:
        self._server = server
        self.cut = self.dead = False

    def get(self, key: str, raise_on_error: bool = False) -> bytes | None:
        self._check()
        assert raise_on_error
        number = self._server.numbers.get(key)
        return None if number is None else str(number).encode()

    def incr(self, key: str, delta: int = 1, time: int = 0) -> int:
        self._check()
        assert time > 0
        assert delta >= 0
        self._server.numbers[key] = (self._server.numbers.get(key, 0) + delta) % 2**64
        return self._server.numbers[key]

    def delete(self, key: str) -> None:
        self._check()
        self._server.numbers.pop(key, None)

    def _check(self) -> None:
        if self.dead:
            raise _KilledError
        if self.cut:
            raise OSError("memcached cannot be reached")


class _Watched:
    """A proxy's path to the store, on which others may act."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.before: Callable[[], None] | None = None
        self.after: Callable[[], None] | None = None

    def __call__(self, env: dict[str, Any], start_response: Any) -> Any:
        if len(env["PATH_INFO"].split("/", 4)) <= 4:  # information on the container
            return self._store(env, start_response)
        before, after, self.before, self.after = self.before, self.after, None, None
        if before is not None:
            before()
        answered = self._store(env, start_response)
        if after is not None:
            after()
        return answered


class _Proxy:
    """A host of filters over a cache; restarted, it keeps the directory."""

    def __init__(self, made: _Site, number: int) -> None:
        self._made = made
        self.directory = made.directory / str(number)
        self.start()

    def start(self) -> None:
        self.line, self.way = _Line(self._made.memcached), _Watched(self._made.store)
        files = CacheFiles(self.directory, 400_000, 3)
        fence = Fence(self.line, _LEASE_S, self._made.pass_time)
        cache = ObjectCache(
            self.way, self._made.book, files, fence=fence, clock=lambda: self._made.now_s, count=self._made.count
        )
        self.host = FilterHost(FencedWrites(cache, fence), self._made.book, self._made.keyring, size_max=10**6)


class _Site:
    """Both stores, and the proxies."""

    def __init__(self, keyring: Keyring, directory: Path) -> None:
        self.keyring, self.directory = keyring, directory
        self.rules = RuleBook()
        self.now_s = 0.0
        self.counts: dict[str, int] = {}
        self.memcached = _Memcached()
        self.plain, self.store = MemoryStore(), MemoryStore()
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        self.proxies = [_Proxy(self, number) for number in (0, 1)]

    def book(self) -> RuleBook:
        return self.rules

    def pass_time(self, seconds: float) -> None:
        self.now_s += seconds

    def count(self, name: str, times: int, length: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + times
        self.counts[f"{name} bytes"] = self.counts.get(f"{name} bytes", 0) + length

    def ask(self, wanted: dict[str, Any]) -> Any:
        proxy = self.proxies[wanted.get("proxy", 0)]
        match wanted["method"]:
            case "RULES":
                self.rules = read_book(wanted["book"])
            case "FORGET":
                self.memcached.numbers.clear()
            case "CUT" | "MEND":
                proxy.line.cut = wanted["method"] == "CUT"
            case "WAIT":
                self.now_s += wanted["seconds"]
            case "RESTART":
                proxy.start()
            case "LOSE":
                shutil.rmtree(proxy.directory)
            case "DAMAGE":
                for file in proxy.directory.iterdir():
                    if len(file.name) == 64 and file.stat().st_size > wanted["at"]:
                        with file.open("r+b") as opened:
                            opened.seek(wanted["at"])
                            old = opened.read(1)
                            opened.seek(wanted["at"])
                            opened.write(bytes([old[0] ^ 255]))
            case "COUNTS":
                counts, self.counts = self.counts, {}
                return counts
            case "KEPT":
                return sorted(file.read_bytes().hex() for file in proxy.directory.iterdir() if len(file.name) == 64)
            case _:
                return self._both(wanted, proxy)
        return None

    def _both(self, wanted: dict[str, Any], proxy: _Proxy) -> Any:
        """Answer at a proxy, and by the plain store: before all requests meanwhile, and after them."""
        told: list[Any] = []
        possible: list[Any] = []
        reads = wanted["method"] in ("GET", "HEAD")

        def look() -> None:
            if reads:
                possible.append(_answer(Request(_env(wanted)), self.plain))

        def meanwhile(when: str) -> Callable[[], None]:
            def act() -> None:
                for entry in wanted.get(when, []):
                    told.append(self.ask(entry))
                    look()
                if wanted.get("killed") and when == "after":
                    proxy.line.dead = True
                    raise _KilledError

            return act

        look()
        proxy.way.before, proxy.way.after = (meanwhile(when) for when in ("before", "after"))
        if not reads:
            act = proxy.way.before

            def commit() -> None:
                act()
                possible.append(_answer(Request(_env(wanted)), self.plain))  # the store does it now

            proxy.way.before = commit
        try:
            got = _answer(Request(_env(wanted)), proxy.host)
        except _KilledError:
            proxy.start()
            return [possible[-1:], None, told]
        proxy.way.before = proxy.way.after = None
        if not reads and not possible:  # it did not reach the store
            possible.append(_answer(Request(_env(wanted)), self.plain))
        return [possible, got, told]


def main() -> None:
    """Answer lines until the input ends."""
    for line in sys.stdin:
        site = _Site(Keyring(Path(sys.argv[1])), Path(sys.argv[2]))
        print(json.dumps([site.ask(wanted) for wanted in json.loads(line)]), flush=True)


if __name__ == "__main__":
    main()
