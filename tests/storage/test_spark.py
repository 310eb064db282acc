"""Unmodified Spark and Stocator on a real Swift: plain reads, views, and what is written."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from storage_bridge.stocator import SwiftService, credentials_xml, swift_credentials, swift_properties
from tests.storage.test_views import WANTED, meters
from tests.support.object_store import Person, definition
from zoe_embedded.home import Home
from zoe_embedded.jars import stocator_jars
from zoe_embedded.runtime import CLONE, Runtime, ensure_runtime
from zoe_embedded.swift.configuration import REGION
from zoe_embedded.swift.store import ObjectStore

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
plain, view, written, properties = sys.argv[1:4] + [json.loads(sys.argv[4])]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
for name, value in properties.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
wanted = "city = 'Nice' and cast(kwh as double) > 90"
of_all = spark.read.option("header", True).csv(plain).where(wanted).select("id", "kwh")
of_view = spark.read.schema("id string, kwh string").csv(view)
rows = [sorted((r.id, r.kwh) for r in frame.collect()) for frame in (of_all, of_view)]
everything = spark.read.option("header", True).csv(plain)
everything.repartition(4).write.csv(written)
back = [sorted(tuple(row) for row in frame.collect()) for frame in (everything, spark.read.csv(written))]
print(json.dumps({"same": rows[0] == rows[1], "rows": len(rows[0]), "written": back[0] == back[1]}))
"""


@pytest.fixture(scope="module")
def spark() -> Runtime:
    return ensure_runtime(Home.find(CLONE).create())


def test_spark_reads_only_what_it_needs_through_unmodified_stocator(
    swift: ObjectStore, ann: Person, admin: Person, spark: Runtime, tmp_path: Path
) -> None:
    contents = [meters(seed, 20_000) for seed in (1, 2)]
    ann.put("for-spark")
    for number, (content, _) in enumerate(contents):
        ann.put(f"for-spark/2015/{number}.csv", content)
    admin.put("zoe-view-spark", **definition("for-spark", prefix="2015/", **WANTED))
    service = SwiftService("zoe", swift.auth_url, REGION)
    keys = swift_credentials({service: ("acme:ann", swift.user("acme:ann").key)})
    (tmp_path / "core-site.xml").write_text(credentials_xml(keys))
    jars = [str(jar) for jar in stocator_jars()]
    environment = {
        **spark.environment,
        "PATH": ":".join(spark.path),
        "HADOOP_CONF_DIR": str(tmp_path),
        "HOME": str(tmp_path),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": f"--driver-class-path {':'.join(jars)} pyspark-shell",
    }
    before = len(swift.log_of("proxy"))
    paths = ["swift2d://for-spark.zoe/2015/", "swift2d://zoe-view-spark.zoe/data", "swift2d://for-spark.zoe/out"]
    done = subprocess.run(
        [spark.environment["PYSPARK_PYTHON"], "-c", PROGRAM, *paths, json.dumps(swift_properties([service], jars))],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    expected_rows = b"".join(wanted for _, wanted in contents).count(b"\n")
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "same": True,
        "rows": expected_rows,
        "written": True,
    }
    log = swift.log_of("proxy")[before:]
    plain_bytes, view_bytes = bytes_out(log, "/for-spark/2015/"), bytes_out(log, "/zoe-view-spark/data/")
    assert plain_bytes >= sum(len(content) for content, _ in contents)
    assert view_bytes * 20 < plain_bytes
    assert {entry["name"] for entry in ann.listing("for-spark") if entry["name"] == "out/_SUCCESS"}
    assert swift.user("acme:ann").key not in done.stdout + done.stderr + " ".join(map(str, done.args))
    assert os.environ.get("HADOOP_CONF_DIR") is None


def bytes_out(log: str, path: str) -> int:
    """What clients were sent of objects under this path, by the access log; requests of our own filter aside."""
    lines = (line.split() for line in log.splitlines() if "GET /v1/" in line and path in line and "127.0.0.1" in line)
    return sum(int(words[12]) for words in lines if words[12].isdigit())
