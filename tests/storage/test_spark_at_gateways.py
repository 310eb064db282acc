"""Unmodified Spark reads views at a gateway before each store, by Stocator and by S3A: the rows of the plain bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.storage.test_views import WANTED, meters
from tests.support.access_log import bytes_out
from tests.support.gateway import gateway_before_ceph, gateway_before_seaweedfs, gateway_before_swift
from tests.support.long import of_storage
from tests.support.object_store import definition, logged_in
from tests.support.spark import s3a_driver, spark_driver
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.store import ObjectStore

pytestmark = of_storage

PROGRAM = """
local, plain, view = paths
wanted = "city = 'Nice' and cast(kwh as double) > 90"
frames = [spark.read.option("header", True).csv(place).where(wanted).select("id", "kwh") for place in (local, plain)]
frames.append(spark.read.schema("id string, kwh string").csv(view))
print(json.dumps([sorted(map(list, frame.collect())) for frame in frames]))
"""
FILES = 3


@contextmanager
def before_swift() -> Iterator[ObjectStore]:
    with gateway_before_swift() as pair:
        yield pair.gateway


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(before_swift, id="swift"),
        pytest.param(gateway_before_ceph, id="ceph"),
        pytest.param(gateway_before_seaweedfs, id="seaweedfs"),
    ],
)
def gateway(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with request.param() as made:
        yield made


def test_views_show_the_same_rows_by_stocator_and_by_s3a(gateway: ObjectStore, spark: Runtime, tmp_path: Path) -> None:
    local, by_s3 = tmp_path / "local", tmp_path / "s3"
    local.mkdir()
    by_s3.mkdir()
    contents = [meters(seed, 20_000) for seed in range(FILES)]
    with logged_in(gateway, "acme:ann") as ann:
        ann.put("for-spark")
        for number, (content, _) in enumerate(contents):
            (local / f"{number}.csv").write_bytes(content)
            ann.put(f"for-spark/2015/{number}.csv", content)
        with logged_in(gateway, "controller:controller", ann.account_url) as admin:
            admin.put("zoe-view-spark", **definition("for-spark", prefix="2015/", **WANTED))
    driver = spark_driver(spark, gateway, "acme:ann", tmp_path)
    wanted = sorted(line.split(",") for _, shown in contents for line in shown.decode().splitlines())
    for entry, places in (
        (driver, ("swift2d://for-spark.zoe/2015/", "swift2d://zoe-view-spark.zoe/data")),
        (s3a_driver(driver, gateway, "acme:ann", by_s3), ("s3a://for-spark/2015/", "s3a://zoe-view-spark/data")),
    ):
        before = len(gateway.log_of("proxy"))
        done = entry.run(PROGRAM, f"file://{local}", *places)
        of_local, of_plain, of_view = json.loads(done.stdout.splitlines()[-1])
        assert of_local == of_plain == of_view == wanted
        log = gateway.log_of("proxy")[before:]
        view_bytes, plain_bytes = (bytes_out(log, f"/{name}/") for name in ("zoe-view-spark/data", "for-spark/2015"))
        assert 0 < view_bytes * 10 < plain_bytes
