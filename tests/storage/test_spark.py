"""Unmodified Spark and Stocator on a real Swift: plain reads, views, and writes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.storage.test_views import WANTED, meters
from tests.support.access_log import bytes_out
from tests.support.long import of_storage
from tests.support.object_store import Person, definition, logged_in, object_store
from tests.support.spark import s3a_driver, spark_cluster, spark_driver
from zoe_embedded.runtimes.jars import s3a_jars, stocator_jars
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.store import ObjectStore

PROGRAM = """
plain, view, written, tiny = paths
wanted = "city = 'Nice' and cast(kwh as double) > 90"
of_all = spark.read.option("header", True).csv(plain).where(wanted).select("id", "kwh")
of_view = spark.read.schema("id string, kwh string").csv(view)
rows = [sorted((r.id, r.kwh) for r in frame.collect()) for frame in (of_all, of_view)]
everything = spark.read.option("header", True).csv(plain)
everything.repartition(4).write.csv(written)
back = [sorted(tuple(row) for row in frame.collect()) for frame in (everything, spark.read.csv(written))]
spark.range(10).repartition(3).selectExpr("cast(id as string)").write.text(tiny)
few = sorted(int(row.value) for row in spark.read.text(tiny).collect())
print(json.dumps({"same": rows[0] == rows[1], "rows": len(rows[0]), "written": back[0] == back[1], "tiny": few}))
"""
# The first attempt of part 0 kills its executor in the middle; that of part 1 never ends by itself.
TROUBLED = """
import os, signal, time
from pathlib import Path
from pyspark import TaskContext
def rows(part, numbers):
    first = TaskContext.get().attemptNumber() == 0
    for position, number in enumerate(numbers):
        if first and part == 0 and position == 5000:
            daemon = os.getppid()
            os.kill(int(Path(f"/proc/{daemon}/stat").read_text().split()[3]), signal.SIGKILL)
        if first and part == 1 and position == 5000:
            time.sleep(3600)
        yield (str(number) + "x" * 100,)
spark.sparkContext.parallelize(range(40_000), 4).mapPartitionsWithIndex(rows).toDF(["line"]).write.text(paths[0])
back = [int(row.value.rstrip("x")) for row in spark.read.text(paths[0]).collect()]
print(json.dumps({"rows": len(back), "same": sorted(back) == list(range(40_000))}))
"""
SPECULATING = {
    "spark_executor_memory": "512m",
    "spark_speculation": "true",
    "spark_speculation_multiplier": "1.2",
    "spark_speculation_quantile": "0.5",
}


def test_a_jvm_with_a_connector_maps_sparks_classes(spark: Runtime, tmp_path: Path) -> None:
    """Its jars and settings are named in front of Spark's jars, and taken behind them (`zoe-java`)."""
    (tmp_path / "core-site.xml").write_text("<configuration/>")
    jars, home = f"{spark.environment['SPARK_HOME']}/jars", spark.environment["JAVA_HOME"]
    class_path = [*map(str, stocator_jars()), str(tmp_path), f"{jars}/*"]
    logged = {"JDK_JAVA_OPTIONS": f"-Xlog:class+load:file={tmp_path}/classes"}
    java = (f"{home}/bin/java", "-cp", ":".join(class_path), "org.apache.spark.deploy.SparkSubmit", "--version")
    subprocess.run(java, check=True, capture_output=True, env={**spark.environment, **logged})
    loaded = [line for line in (tmp_path / "classes").read_text().splitlines() if " org.apache.spark." in line]
    assert [line for line in loaded if "source: file:" in line] == []
    assert len([line for line in loaded if "source: shared objects file" in line]) > 50


@pytest.mark.parametrize("connector", [stocator_jars, pytest.param(s3a_jars, marks=of_storage)])
def test_a_connector_shares_no_name_with_sparks_jars(connector: Callable[[], list[Path]], spark: Runtime) -> None:
    """So it means the same behind them."""
    there = _names(Path(spark.environment["SPARK_HOME"], "jars").glob("*.jar"))
    empty = {"org/apache/spark/unused/UnusedStubClass.class", "mozilla/public-suffix-list.txt", ".gitkeep"}
    assert _names(connector()) & there <= empty


def _names(jars: Iterable[Path]) -> set[str]:
    names = {name for jar in jars for name in ZipFile(jar).namelist()}
    return {name for name in names if not name.endswith("/") and not name.startswith("META-INF/")}


def test_spark_reads_only_what_it_needs_through_unmodified_stocator(
    swift: ObjectStore, ann: Person, admin: Person, spark: Runtime, tmp_path: Path
) -> None:
    contents = [meters(seed, 20_000) for seed in (1, 2)]
    ann.put("for-spark")
    for number, (content, _) in enumerate(contents):
        ann.put(f"for-spark/2015/{number}.csv", content)
    admin.put("zoe-view-spark", **definition("for-spark", prefix="2015/", **WANTED))
    before = len(swift.log_of("proxy"))
    names = ("for-spark.zoe/2015/", "zoe-view-spark.zoe/data", "for-spark.zoe/out", "for-spark.zoe/tiny")
    done = spark_driver(spark, swift, "acme:ann", tmp_path).run(PROGRAM, *(f"swift2d://{name}" for name in names))
    expected_rows = b"".join(wanted for _, wanted in contents).count(b"\n")
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "same": True,
        "rows": expected_rows,
        "written": True,
        "tiny": list(range(10)),
    }
    log = swift.log_of("proxy")[before:]
    plain_bytes, view_bytes = bytes_out(log, "/for-spark/2015/"), bytes_out(log, "/zoe-view-spark/data/")
    assert plain_bytes >= sum(len(content) for content, _ in contents)
    assert view_bytes * 20 < plain_bytes
    assert {entry["name"] for entry in ann.listing("for-spark") if entry["name"] == "out/_SUCCESS"}
    assert swift.user("acme:ann").key not in done.stdout + done.stderr + " ".join(map(str, done.args))
    assert os.environ.get("HADOOP_CONF_DIR") is None


@pytest.fixture
def s3_store() -> Iterator[ObjectStore]:
    with object_store(s3=True) as store:
        yield store


@of_storage
def test_s3a_commits_by_magic_whatever_becomes_of_executors(
    s3_store: ObjectStore, spark: Runtime, tmp_path: Path
) -> None:
    (tmp_path / "s3").mkdir()
    with logged_in(s3_store, "acme:ann") as ann:
        ann.put("troubled")
        like = spark_driver(spark, s3_store, "acme:ann", tmp_path)
        driver = s3a_driver(like, s3_store, "acme:ann", tmp_path / "s3")
        with spark_cluster(spark, tmp_path) as url:
            done = driver.run(TROUBLED, "s3a://troubled/out", spark_master=url, **SPECULATING)
        assert json.loads(done.stdout.splitlines()[-1]) == {"rows": 40_000, "same": True}
        assert "ExecutorLostFailure" in done.stderr or "Lost executor" in done.stderr
        assert ann.call("GET", "troubled/out/_SUCCESS").json()["committer"] == "magic"
        names = [entry["name"] for entry in ann.listing("troubled")]
    assert not [name for name in names if "__magic" in name or "_temporary" in name]
    assert sorted(name.removeprefix("out/")[:10] for name in names if "part-" in name) == [
        f"part-{number:05d}" for number in range(4)
    ]
    # Nothing was seen before it was committed: all parts came as uploads that the job completed.
    puts = [line for line in s3_store.log_of("proxy").splitlines() if " PUT " in line and "/troubled/out/part-" in line]
    assert puts
    assert all("uploadId" in line for line in puts), puts


@of_storage
def test_an_executor_killed_in_mid_write_and_speculation_leave_every_row_once(
    swift: ObjectStore, ann: Person, spark: Runtime, tmp_path: Path
) -> None:
    ann.put("troubled")
    driver = spark_driver(spark, swift, "acme:ann", tmp_path)
    with spark_cluster(spark, tmp_path) as url:
        done = driver.run(
            TROUBLED,
            "swift2d://troubled.zoe/out",
            spark_master=url,
            **SPECULATING,
        )
    assert json.loads(done.stdout.splitlines()[-1]) == {"rows": 40_000, "same": True}
    assert "ExecutorLostFailure" in done.stderr or "Lost executor" in done.stderr
    names = [entry["name"] for entry in ann.listing("troubled")]
    assert "out/_SUCCESS" in names
    parts = [name.rpartition("-c000")[0].partition("-attempt_")[0] for name in names if "part-" in name]
    assert {name.rpartition("/part-")[2][:5] for name in parts} == {"00000", "00001", "00002", "00003"}
