"""REST operations of one fresh Spark write of eight parts, counted at the proxy: Stocator beside S3A."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from benchmarks.storage.spark_session import driver
from benchmarks.storage.table import Line
from storage_bridge.stocator import S3Service, credentials_xml, s3_credentials, s3_properties
from tests.support.access_log import operations
from tests.support.object_store import Person, logged_in, object_store
from tests.support.spark import SparkDriver
from zoe_embedded.jars import s3a_jars
from zoe_embedded.swift.configuration import S3_REGION
from zoe_embedded.swift.store import ObjectStore

LOGIN = "acme:ann"
PARTS = 8
GOAL = 20
WRITE = f"""
spark.range(10_000).repartition({PARTS}).write.csv(paths[0])
print(spark.read.csv(paths[0]).count())
"""
# The write alone is counted: what reads it back comes after the mark of success.
_MARK = "_SUCCESS"


def measure(_: argparse.Namespace) -> list[Line]:
    """One run each: counts do not vary."""
    with object_store(s3=True) as store, logged_in(store, LOGIN) as person:
        with driver(store, LOGIN) as stocator:
            ours = written(store, person, stocator, "swift2d://{}.zoe/out", "through-stocator")
        with tempfile.TemporaryDirectory(prefix="zoe-bench-") as apart:
            s3a = written(store, person, s3a_driver(store, stocator, Path(apart)), "s3a://{}/out", "through-s3a")
    return [
        Line("Stocator", tell(ours), f"<= {GOAL}", ours.total() <= GOAL),
        Line("S3A, committer v1", tell(s3a)),
        Line("S3A beside Stocator", f"{s3a.total() / ours.total():.0f} times as many"),
    ]


def written(store: ObjectStore, person: Person, driver: SparkDriver, path: str, container: str) -> Counter[str]:
    """Requests of one write into a container that is there, to the last one that makes the mark of success."""
    person.put(container)
    before = len(store.log_of("proxy"))
    done = driver.run(WRITE, path.format(container))
    assert done.stdout.split()[-1] == "10000"
    lines = store.log_of("proxy")[before:].splitlines()
    last = max(place for place, line in enumerate(lines) if " PUT " in line and _MARK in line)
    return operations("\n".join(lines[: last + 1]))


def s3a_driver(store: ObjectStore, like: SparkDriver, directory: Path) -> SparkDriver:
    """The same person by S3A, with the committer that Spark uses when nobody says another."""
    user = store.user(LOGIN)
    service = S3Service(store.auth_url.removesuffix("/auth/v1.0"))
    (directory / "core-site.xml").write_text(credentials_xml(s3_credentials(user.login, user.key)))
    jars = [str(jar) for jar in s3a_jars()]
    properties = {
        **s3_properties(service, jars),
        "spark.hadoop.fs.s3a.committer.name": "file",
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "1",
        "spark.hadoop.fs.s3a.endpoint.region": S3_REGION,
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    }
    return replace(like, directory=directory, properties=properties, jars=jars)


def tell(counts: Counter[str]) -> str:
    """In all, and by method."""
    return f"{counts.total()} ({', '.join(f'{count} {method}' for method, count in counts.most_common())})"
