"""Unchanged swift-bench through Zoe's pipeline and through one without Zoe's filters."""

from __future__ import annotations

import argparse

from benchmarks.storage.stand import USERS, bare_store
from benchmarks.storage.table import Line
from tests.support.strangers import swift_bench

OBJECTS, SIZE, CONCURRENCY = 500, 10_000, 10


def measure(_: argparse.Namespace) -> list[Line]:
    """Measure the rates of both, and failures, which must not occur."""
    found = []
    for filters in (True, False):
        with bare_store(filters=filters) as store:
            found.append(swift_bench(store, USERS[1], OBJECTS, SIZE, CONCURRENCY))
    ours, bare = found
    return [
        Line(
            f"{name} of {OBJECTS} x {SIZE // 1000} KB, {CONCURRENCY} at once",
            f"{final.done} done, {final.failures} failed, {final.per_s:.0f}/s beside {bare[name].per_s:.0f}/s",
            "0 failed",
            final.failures == 0 and final.done == OBJECTS,
        )
        for name, final in ours.items()
    ]
