"""Cost of modules at a real Swift: an object put and read through none, one, two and four of them, in turn.

    python -m benchmarks.storage.modules --rounds 300 --kib 64

Rounds are interleaved. Times are of a client on loopback, CPU seconds those of the proxy. Their additional cost is the
median over rounds of the difference in the same round, with the quartiles. An empty module copies its input; `mask` and
`columns` are those of the catalogue, over CSV.

    python -m benchmarks.storage.modules --alone --rounds 300 --kib 64

measures the modules alone, without a store: CPU of this thread, as quartiles. That is measurable on a busy machine too.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

import psutil

from benchmarks.storage.filters import DIRECTIONS, Samples, measure_request
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.rules import ModuleVersion
from storage_filters.transforms.modules.engine import compile_module
from storage_filters.transforms.modules.filters import ModuleFilter, NamedModule, ReadModule
from storage_filters.transforms.stream_filters import PIECE_BYTES
from tests.support.modules import EMPTY, copying, module
from tests.support.object_store import Person, logged_in
from tests.support.pusher import pushed_store
from zoe_embedded.runtimes.runtime import CLONE

_FILTERS = CLONE / "app_descriptions" / "filters"
_EMPTY = [module(*EMPTY, f'(func (export "spare{number}"))') for number in range(4)]
_READ = module(copying("transform"), '(func (export "same_size"))')
MODULES = {
    **{f"empty{number}": content for number, content in enumerate(_EMPTY)},
    "emptyread": _READ,
    **{name: (_FILTERS / f"{name}.wasm").read_bytes() for name in ("mask", "columns")},
}
RULES = {
    "none": "",
    "noop": "SET NOOP",
    "one": "SET empty0",
    "two": "SET empty0, SET empty1",
    "four": "SET empty0, SET empty1, SET empty2, SET empty3",
    "oneread": "SET emptyread",
    "mask": 'SET mask WITH columns="2,3"',
    "columns": "SET columns",
    "columnszstd": "SET columns, SET COMPRESSION",
    "zstd": "SET COMPRESSION",
}
_CHANGES = frozenset({"mask"})


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--kib", type=int, default=64, help="size of the object")
    parser.add_argument("--alone", action="store_true", help="without a store")
    parser.add_argument("--rules", default=",".join(RULES), help="names of modules (default: all)")
    arguments = parser.parse_args()
    if arguments.alone:
        measure_alone(table(arguments.kib * 1024), arguments.rounds)
        return
    names = ["none", *(name for name in arguments.rules.split(",") if name != "none")]
    texts = [f"FOR CONTAINER acme/{name} DO {RULES[name]}" for name in names if RULES[name]]
    rules = tuple(replace(parse_rule(text), id=number) for number, text in enumerate(texts, 1))
    versions = {
        name.upper(): ModuleVersion(name, hashlib.sha256(content).hexdigest(), compile_module(content).reads)
        for name, content in MODULES.items()
    }
    with pushed_store(nodes=1, replicas=1) as (store, pusher), logged_in(store, "acme:ann") as person:
        for content in MODULES.values():
            pusher.send_module(content)
        pusher.rules = book_document(RuleBook(rules, modules={"": versions}))
        pusher.push()
        pusher.push(AUTH_nobody={"get": 1.0})
        proxy = psutil.Process(store.processes["proxy"])
        show(names, measure(person, proxy, names, table(arguments.kib * 1024), arguments.rounds))


def measure_alone(content: bytes, rounds: int) -> None:
    """Measure modules one after another in each round, and print CPU milliseconds for an object."""
    named = {name: _named_module(name, content, columns="2,3") for name, content in MODULES.items()}
    pieces = [content[at : at + PIECE_BYTES] for at in range(0, len(content), PIECE_BYTES)]
    kept = {
        name: b"".join(ModuleFilter(module).forward(pieces))
        for name, module in named.items()
        if not module.module.reads
    }
    works: dict[str, Callable[[], Iterator[bytes]]] = {
        "empty: stored": lambda: ModuleFilter(named["empty0"]).forward(pieces),
        "empty: read back": lambda: ModuleFilter(named["empty0"]).reverse([kept["empty0"]], 0, True),
        "empty: transform": lambda: ReadModule(named["emptyread"], {}).transform(pieces),
        "columns: stored": lambda: ModuleFilter(named["columns"]).forward(pieces),
        "columns: read back": lambda: ModuleFilter(named["columns"]).reverse([kept["columns"]], 0, True),
        "mask: transform": lambda: ReadModule(named["mask"], {}).transform(pieces),
    }
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for name, work in works.items():
            began_s = time.thread_time()
            for _chunk in work():
                pass
            found[name].append((time.thread_time() - began_s) * 1e3)
    for name, taken in found.items():
        low, middle, high = statistics.quantiles(taken, n=4)
        print(f"{name:<20}{middle:>8.2f} ms ({low:.2f} to {high:.2f})")


def _named_module(name: str, content: bytes, **parameters: str) -> NamedModule:
    return NamedModule(name, hashlib.sha256(content).hexdigest(), compile_module(content), parameters, lambda: None)


def table(length: int) -> bytes:
    """Return CSV of this length."""
    rows = (
        f"2026-01-{i // 2880 % 28 + 1:02},{i % 2880 * 30},node-{i * 7 % 40:03},{i * i % 977}\n" for i in range(length)
    )
    return "".join(rows).encode()[:length]


def measure(
    person: Person, proxy: psutil.Process, names: list[str], content: bytes, rounds: int
) -> dict[tuple[str, str], Samples]:
    """Return the samples by rule and direction; the first round warms up and does not count."""
    found: dict[tuple[str, str], Samples] = defaultdict(lambda: Samples([]))
    for name in names:
        person.put(name)
    for number in range(rounds + 1):
        for name in names:
            for direction in DIRECTIONS:
                seconds, cpu_s = measure_request(
                    person, proxy, direction, f"{name}/object", content, name not in _CHANGES
                )
                if number:
                    found[name, direction].seconds.append(seconds)
                    found[name, direction].cpu_s += cpu_s
    return found


def show(names: list[str], found: dict[tuple[str, str], Samples]) -> None:
    """Print the table."""
    print(f"{'rule':<14}{'':<6}{'median ms':>10}{'adds ms':>9}{'quartiles':>16}{'adds CPU ms':>13}")
    for direction in DIRECTIONS:
        plain = found["none", direction]
        for name in names:
            one = found[name, direction]
            more = [(mine - theirs) * 1e3 for mine, theirs in zip(one.seconds, plain.seconds, strict=True)]
            low, middle, high = statistics.quantiles(more, n=4)
            cpu_ms = (one.cpu_s - plain.cpu_s) / len(one.seconds) * 1e3
            print(
                f"{name:<14}{direction:<6}{statistics.median(one.seconds) * 1e3:>10.2f}{middle:>9.2f}"
                f"{f'{low:.2f} to {high:.2f}':>16}{cpu_ms:>13.2f}"
            )


if __name__ == "__main__":
    main()
