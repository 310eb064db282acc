"""REST operations of one fresh Spark write of eight parts, counted at the proxy: Stocator beside S3A."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from benchmarks.storage.spark_session import driver
from benchmarks.storage.table import Line
from tests.support.access_log import operations
from tests.support.object_store import Person, logged_in, object_store
from tests.support.spark import SparkDriver, s3a_driver
from zoe_embedded.swift.store import ObjectStore

LOGIN = "acme:ann"
PARTS = 8
GOAL = 20
WRITE = f"""
spark.range(10_000).repartition({PARTS}).write.csv(paths[0])
print(spark.read.csv(paths[0]).count())
"""
# Only the write is counted: reads of the result come after the success marker.
_MARK = "_SUCCESS"


def measure(_: argparse.Namespace) -> list[Line]:
    """Measure one run of each: counts do not vary."""
    with object_store(s3=True) as store, logged_in(store, LOGIN) as person:
        with driver(store, LOGIN) as stocator:
            ours = requests_of_write(store, person, stocator, "swift2d://{}.zoe/out", "through-stocator")
        with tempfile.TemporaryDirectory(prefix="zoe-bench-") as apart:
            s3a = s3a_driver(stocator, store, LOGIN, Path(apart))
            magic = requests_of_write(store, person, s3a, "s3a://{}/out", "through-s3a")
            renaming = requests_of_write(store, person, by_renames(s3a), "s3a://{}/out", "through-s3a-by-renames")
    return [
        Line("Stocator", tell(ours), f"<= {GOAL}", ours.total() <= GOAL),
        Line("S3A, magic committer", f"{tell(magic)}: {magic.total() / ours.total():.0f} times as many"),
        Line("S3A, committer v1", f"{tell(renaming)}: {renaming.total() / ours.total():.0f} times as many"),
    ]


def requests_of_write(
    store: ObjectStore, person: Person, driver: SparkDriver, path: str, container: str
) -> Counter[str]:
    """Return the requests of one write into an existing container, up to the last one that writes the success
    marker.
    """
    person.put(container)
    before = len(store.log_of("proxy"))
    done = driver.run(WRITE, path.format(container))
    assert done.stdout.split()[-1] == "10000"
    lines = store.log_of("proxy")[before:].splitlines()
    last = max(place for place, line in enumerate(lines) if " PUT " in line and _MARK in line)
    return operations("\n".join(lines[: last + 1]))


def by_renames(driver: SparkDriver) -> SparkDriver:
    """Return the driver with Spark's default committer."""
    changes = {
        "spark.hadoop.fs.s3a.committer.name": "file",
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "1",
    }
    return replace(driver, properties={**driver.properties, **changes})


def tell(counts: Counter[str]) -> str:
    """Print the total, and counts by method."""
    return f"{counts.total()} ({', '.join(f'{count} {method}' for method, count in counts.most_common())})"
