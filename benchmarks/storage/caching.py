"""Savings by the cache of a proxy: GETs of an object that a rule caches, beside GETs of an equal one without.

    python -m benchmarks.storage.caching --rounds 300            asking memcached, and the nodes once a second
    python -m benchmarks.storage.caching --rounds 300 --asking   asking the nodes at each GET

Pairs are interleaved, in alternating order. Times are of a client on loopback with one connection, CPU seconds those of
the proxy and of the object servers. The ratio is the median over pairs, with its 95 % interval by order statistics.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from tests.support.object_store import Person, logged_in
from tests.support.pusher import pushed_store
from zoe_embedded.swift.store import ObjectStore

SIZES = (10_000, 100_000, 1_000_000)
CONTAINERS = ("plain", "cached")
WARM_ROUNDS = 5


@dataclass
class Samples:
    """Seconds of each GET, and CPU seconds of all of them."""

    seconds: list[float] = field(default_factory=list)
    proxy_s: float = 0.0
    nodes_s: float = 0.0


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--asking", action="store_true", help="without the fence")
    parser.add_argument("--replicas", type=int, default=1)
    arguments = parser.parse_args()
    rules = RuleBook((replace(parse_rule("FOR CONTAINER acme/cached DO SET CACHING"), id=1),))
    nodes = arguments.replicas
    with (
        pushed_store(nodes=nodes, replicas=nodes, cache=True, cache_fence=not arguments.asking) as (store, pusher),
        logged_in(store, "acme:ann") as person,
    ):
        pusher.rules = book_document(rules)
        pusher.push()
        pusher.push(AUTH_nobody={"get": 1.0})  # the earlier push is in force
        for container in CONTAINERS:
            person.put(container)
        print(f"{'bytes':>9}  {'':<7}{'median ms':>10}{'ratio':>8}{'95 %':>16}{'proxy ms':>10}{'nodes ms':>10}")
        for size in SIZES:
            show(size, measure(store, person, os.urandom(size), arguments.rounds))


def measure(store: ObjectStore, person: Person, content: bytes, rounds: int) -> dict[str, Samples]:
    """Return the samples by container; the first rounds warm up and do not count."""
    found = {container: Samples() for container in CONTAINERS}
    for container in CONTAINERS:
        person.put(f"{container}/object", content)
    for number in range(-WARM_ROUNDS, rounds):
        for container in CONTAINERS if number % 2 else reversed(CONTAINERS):
            before, began_s = cpu(store), time.perf_counter()
            answer = person.call("GET", f"{container}/object")
            seconds, after = time.perf_counter() - began_s, cpu(store)
            assert answer.content == content
            if number >= 0:
                found[container].seconds.append(seconds)
                found[container].proxy_s += after[0] - before[0]
                found[container].nodes_s += after[1] - before[1]
    return found


def cpu(store: ObjectStore) -> tuple[float, float]:
    """Return CPU seconds of the proxy, and of all object servers."""
    proxy = nodes = 0.0
    for name, pid in store.processes.items():
        if name == "proxy" or name.startswith("object"):
            used = sum(int(file.read_text().split()[0]) for file in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
            proxy, nodes = (proxy + used, nodes) if name == "proxy" else (proxy, nodes + used)
    return proxy, nodes


def show(size: int, found: dict[str, Samples]) -> None:
    """Print two lines."""
    plain = found["plain"]
    for container in CONTAINERS:
        one = found[container]
        ratios = sorted(mine / theirs for mine, theirs in zip(one.seconds, plain.seconds, strict=True))
        count = len(ratios)
        half = 0.98 * math.sqrt(count)
        low, high = ratios[max(0, math.floor(count / 2 - half))], ratios[min(count - 1, math.ceil(count / 2 + half))]
        print(
            f"{size:>9}  {container:<7}{statistics.median(one.seconds) * 1e3:>10.2f}{statistics.median(ratios):>8.2f}"
            f"{f'{low:.2f} to {high:.2f}':>16}{one.proxy_s / count * 1e3:>10.2f}{one.nodes_s / count * 1e3:>10.2f}"
        )


if __name__ == "__main__":
    main()
