"""Independent clients run unchanged through the pipeline, and Spark writes with few requests."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.access_log import operations
from tests.support.object_store import Person
from tests.support.spark import spark_driver
from tests.support.strangers import swift_bench, swift_client
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.store import ObjectStore

WRITE = "spark.range(1000).repartition(8).write.csv(paths[0])"
OPERATIONS_MAX = 20


def test_swift_bench_finds_no_failure(swift: ObjectStore) -> None:
    found = swift_bench(swift, swift.user("acme:ann"), objects=128, size=10_000, concurrency=64)
    assert {name: (final.done, final.failures) for name, final in found.items()} == {
        "PUTS": (128, 0),
        "GETS": (128, 0),
        "DEL": (128, 0),
    }


def test_python_swiftclient_gets_back_what_it_sent(swift: ObjectStore, tmp_path: Path) -> None:
    """Also in segments, and copies."""
    content, ann = os.urandom(3_000_000), swift.user("acme:ann")
    (tmp_path / "file").write_bytes(content)
    swift_client(swift, ann, "upload", "parcels", "file", "--segment-size", "1000000", cwd=tmp_path)
    swift_client(swift, ann, "upload", "parcels", "file", "--object-name", "whole", cwd=tmp_path)
    assert swift_client(swift, ann, "list", "parcels", cwd=tmp_path).split() == ["file", "whole"]
    assert "Content Length: 3000000" in swift_client(swift, ann, "stat", "parcels", "whole", cwd=tmp_path)
    for name in ("file", "whole"):
        swift_client(swift, ann, "download", "parcels", name, "-o", f"{name}.back", cwd=tmp_path)
        assert (tmp_path / f"{name}.back").read_bytes() == content
    swift_client(swift, ann, "delete", "parcels", cwd=tmp_path)
    assert "parcels\n" not in swift_client(swift, ann, "list", cwd=tmp_path)


def test_a_fresh_write_of_eight_parts_takes_few_requests(
    swift: ObjectStore, ann: Person, spark: Runtime, tmp_path: Path
) -> None:
    ann.put("written")
    before = len(swift.log_of("proxy"))
    spark_driver(spark, swift, "acme:ann", tmp_path).run(WRITE, "swift2d://written.zoe/out")
    counted = operations(swift.log_of("proxy")[before:])
    assert counted["PUT"] >= 9
    assert counted.total() <= OPERATIONS_MAX
    assert counted["COPY"] == 0
