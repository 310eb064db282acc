"""Cost of object filters at a real Swift: one object put and read under each rule in turn, beside no rule.

    python -m benchmarks.storage.filters --rounds 100 --kib 1024

Rounds are interleaved, so that other load on the machine affects all rules alike. Times are of a client on loopback,
CPU seconds those of the proxy; ratios are medians over rounds of the time under a rule over the time without one in the
same round, with the quartiles. The object is English text, or random bytes with --random.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from tests.support.object_store import Person, logged_in
from tests.support.pusher import pushed_store

RULES = {
    "none": "",
    "noop": "SET NOOP",
    "lz4": "SET COMPRESSION WITH TYPE=LZ4",
    "zstd": "SET COMPRESSION WITH TYPE=ZSTD",
    "gzip": "SET COMPRESSION WITH TYPE=GZIP",
    "encryption": "SET ENCRYPTION",
    "lz4 and encryption": "SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION",
}
DIRECTIONS = ("PUT", "GET")
_KEYS = '{"acme": {"current": "bench", "keys": {"bench": "' + "5a" * 32 + '"}}}'


@dataclass
class Samples:
    """Seconds of each request, and CPU seconds of the proxy for all of them."""

    seconds: list[float]
    cpu_s: float = 0.0


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--kib", type=int, default=1024, help="size of the object")
    parser.add_argument("--random", action="store_true", help="bytes that cannot be compressed")
    arguments = parser.parse_args()
    content = body(arguments.kib * 1024, arguments.random)
    texts = [f'FOR CONTAINER "acme/{name.replace(" ", "-")}" DO {action}' for name, action in RULES.items() if action]
    rules = RuleBook(tuple(replace(parse_rule(text), id=number) for number, text in enumerate(texts, 1)))

    def keyring(apart: Path, account: object) -> str:
        path = apart / "keyring.json"
        path.write_text(_KEYS)
        if account is not None:
            os.chown(path, account.uid, account.gid)  # type: ignore[attr-defined]
        return str(path)

    with (
        pushed_store(nodes=1, replicas=1, keyring=keyring) as (store, pusher),
        logged_in(store, "acme:ann") as person,
    ):
        pusher.rules = book_document(rules)
        pusher.push()
        pusher.push(AUTH_nobody={"get": 1.0})  # the earlier push is in force
        proxy = psutil.Process(store.processes["proxy"])
        show(measure(person, proxy, content, arguments.rounds))


def body(length: int, random: bool) -> bytes:
    """Return the object."""
    if random:
        return os.urandom(length)
    text = b"".join(path.read_bytes() for path in sorted(Path("docs").glob("*/*.md")))
    return (text * (length // len(text) + 1))[:length]


def measure(person: Person, proxy: psutil.Process, content: bytes, rounds: int) -> dict[tuple[str, str], Samples]:
    """Return the samples by rule and direction; the first round warms up and does not count."""
    found: dict[tuple[str, str], Samples] = defaultdict(lambda: Samples([]))
    for name in RULES:
        person.put(name.replace(" ", "-"))
    for number in range(rounds + 1):
        for name in RULES:
            for direction in DIRECTIONS:
                seconds, cpu_s = measure_request(person, proxy, direction, f"{name.replace(' ', '-')}/object", content)
                if number:
                    found[name, direction].seconds.append(seconds)
                    found[name, direction].cpu_s += cpu_s
    return found


def measure_request(
    person: Person, proxy: psutil.Process, direction: str, path: str, content: bytes, same: bool = True
) -> tuple[float, float]:
    """Return seconds and CPU seconds of one request. same: a GET returns the original."""
    before, began_s = sum(proxy.cpu_times()[:2]), time.perf_counter()
    answer = person.call(direction, path, content=content if direction == "PUT" else None)
    seconds = time.perf_counter() - began_s
    assert answer.is_success
    assert direction == "PUT" or not same or answer.content == content
    return seconds, sum(proxy.cpu_times()[:2]) - before


def show(found: dict[tuple[str, str], Samples]) -> None:
    """Print the table."""
    print(f"{'rule':<20}{'':<6}{'median ms':>10}{'ratio':>8}{'quartiles':>16}{'CPU ms':>9}")
    for direction in DIRECTIONS:
        plain = found["none", direction]
        for name in RULES:
            one = found[name, direction]
            ratios = [mine / theirs for mine, theirs in zip(one.seconds, plain.seconds, strict=True)]
            low, middle, high = statistics.quantiles(ratios, n=4)
            print(
                f"{name:<20}{direction:<6}{statistics.median(one.seconds) * 1e3:>10.2f}{middle:>8.2f}"
                f"{f'{low:.2f} to {high:.2f}':>16}{one.cpu_s / len(one.seconds) * 1e3:>9.2f}"
            )


if __name__ == "__main__":
    main()
