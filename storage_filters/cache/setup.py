"""Build the cache of a proxy from the section `zoe_filters` of its configuration.

    cache_dir = /var/cache/swift/zoe        owned by the server's user, mode 0700; default: no cache
    cache_bytes = 1073741824                its size
    cache_entries = 100000
    cache_object_bytes = 67108864           larger objects are not cached
    cache_memcached = 10.0.0.5:11211        the same server at all proxies; default: always ask the store
    cache_lease_s = 1                       how long an answer of the store is relied on

A configuration that cannot be used is logged, and the proxy works without a cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eventlet import sleep
from swift.common.exceptions import MemcacheConnectionError
from swift.common.memcached import MemcacheRing

from storage_filters.cache.fence import Fence
from storage_filters.cache.fenced_writes import FencedWrites
from storage_filters.cache.files import CacheFiles, UnusableCacheError
from storage_filters.cache.object_cache import ObjectCache
from storage_filters.counting.rate_table import RateTable, belonging_to
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.file import BYTES, TIMES, cache_file
from storage_filters.rules.hosted import hosted
from storage_filters.rules.rules import CACHING

_ENCRYPTION = "swift.common.middleware.crypto"
_CONNECT_S, _ANSWER_S, _CONNECTIONS = 0.25, 0.5, 64


def with_cache(app: Any, conf: Mapping[str, str], book: Callable[[], RuleBook], logger: Any) -> Any:
    """Return the application with the configured elements before it: a cache, and the announcement of writes to other
    proxies.
    """
    last, elements = _elements(app)
    fence = _fence(conf, getattr(last, "written_elsewhere", False), logger)
    if conf.get("cache_dir"):
        if any(element.startswith(_ENCRYPTION) for element in elements):
            logger.error(
                "nothing is cached: Swift encrypts objects behind zoe_filters, so the cache would hold them decrypted"
            )
        else:
            app = _with_object_cache(app, conf, book, fence, logger)
    return app if fence is None else FencedWrites(app, fence)


def _with_object_cache(
    app: Any, conf: Mapping[str, str], book: Callable[[], RuleBook], fence: Fence | None, logger: Any
) -> Any:
    with belonging_to(conf.get("user", "swift")):
        table = RateTable(cache_file(conf["rates_file"]))

        def count(name: str, times: int, length: int) -> None:
            table.turn(name, TIMES, times, time.monotonic())
            if length:
                table.turn(name, BYTES, length, time.monotonic())

        try:
            files = CacheFiles(
                Path(conf["cache_dir"]),
                int(conf.get("cache_bytes", 2**30)),
                int(conf.get("cache_entries", 100_000)),
                evicted=lambda entries: count("evicted", entries, 0),
                warn=logger.warning,
            )
        except UnusableCacheError as error:
            logger.error("nothing is cached: %s", error)
            return app
    hosted.add(CACHING)
    prefix, largest = conf.get("account_prefix", "AUTH_"), int(conf.get("cache_object_bytes", 2**26))
    return ObjectCache(app, book, files, prefix, fence, largest, count)


def _fence(conf: Mapping[str, str], written_elsewhere: bool, logger: Any) -> Fence | None:
    server = conf.get("cache_memcached", "").strip()
    if not server:
        return None
    if written_elsewhere:
        logger.error(
            "cache_memcached is ignored: others may write to the store behind a gateway, so each request asks it"
        )
        return None
    if "," in server:
        logger.error("cache_memcached is ignored: with several servers, two proxies could use different ones")
        return None
    memcache = MemcacheRing(
        [server],
        connect_timeout=_CONNECT_S,
        io_timeout=_ANSWER_S,
        tries=1,
        max_conns=_CONNECTIONS,
        logger=logger,
        error_limit_time=0,
    )
    lease_s = float(conf.get("cache_lease_s", 1.0))
    return Fence(memcache, lease_s, sleep, (MemcacheConnectionError, OSError, ValueError))


def _elements(app: Any) -> tuple[Any, list[str]]:
    """Return the last element of a pipeline, and the modules of all elements."""
    modules = [type(app).__module__]
    while (following := getattr(app, "app", None)) is not None:
        app = following
        modules.append(type(app).__module__)
    return app, modules
