"""The cost of the filters: alternating requests to a store with all of them and to one without, in one run."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from http.client import HTTPConnection
from urllib.parse import urlsplit

from benchmarks.storage.client import CONTAINER
from benchmarks.storage.stand import bare_store
from benchmarks.storage.table import Line
from benchmarks.support import percentile
from tests.support.object_store import Person, logged_in
from tests.support.pusher import pushed_store

GOAL_MS = 0.5
SIZES = {"10 KB": 10_000, "1 MB": 1_000_000}
LIMIT = 10e9  # in force, but never reached: this measures the work, not the waiting
WARM = 20
LOGIN, BARE_LOGIN = "acme:ann", "gold:gold"


def measure(options: argparse.Namespace) -> list[Line]:
    """Measure reads and writes of both sizes: the median of the difference over all pairs of requests."""
    with (
        pushed_store(nodes=1, replicas=1) as (with_filters, pusher),
        bare_store(nodes=1, replicas=1, filters=False) as without,
        logged_in(with_filters, LOGIN) as ours,
        logged_in(without, BARE_LOGIN) as bare,
    ):
        pusher.push(AUTH_acme={"get": LIMIT, "put": LIMIT})
        lines = []
        for name, size in SIZES.items():
            for method in ("GET", "PUT"):
                lines.append(_cell(f"{method} {name}", method, size, (ours, bare), options.pairs))
        return lines


def _cell(what: str, method: str, size: int, people: tuple[Person, Person], pairs: int) -> Line:
    content = os.urandom(size)
    for person in people:
        person.put(CONTAINER)
        person.put(f"{CONTAINER}/object", content)
    requests = [_request(person, method, content) for person in people]
    times: list[list[float]] = [[], []]
    for number in range(pairs + WARM):
        for side in (0, 1) if number % 2 else (1, 0):
            took_ms = 1e3 * requests[side]()
            if number >= WARM:
                times[side].append(took_ms)
    (p50, p99), (bare_p50, bare_p99) = ((statistics.median(time_), percentile(time_, 0.99)) for time_ in times)
    added = statistics.median(ours - bare for ours, bare in zip(*times, strict=True))
    figure = f"p50 {p50:.2f} beside {bare_p50:.2f} ms, p99 {p99:.2f} beside {bare_p99:.2f} ms; added {added:.2f} ms"
    return Line(what, figure, f"added < {GOAL_MS} ms", added < GOAL_MS)


def _request(person: Person, method: str, content: bytes) -> Callable[[], float]:
    place = urlsplit(person.account_url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=60)
    headers = {"X-Auth-Token": str(person.http.headers["X-Auth-Token"])}
    path = f"{place.path}/{CONTAINER}/object"
    body = content if method == "PUT" else None

    def request_once() -> float:
        began_s = time.perf_counter()
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status in (200, 201), answer.status
        return time.perf_counter() - began_s

    return request_once
