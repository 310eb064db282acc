"""Unmodified queries of Spark over CSV and JSON lines in Swift: the same rows as without pushdown, of fewer bytes."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.storage import odd_csv, odd_json
from tests.support.access_log import bytes_out
from tests.support.long import LONG, of_storage
from tests.support.object_store import Person
from tests.support.spark import SparkDriver, spark_driver
from tests.support.waiting import until
from zoe_embedded.runtimes.pushdown_jar import pushdown_jar
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.store import ObjectStore

EXTENSION = {"spark.sql.extensions": "zoe.pushdown.Extensions"}
LOGGED = """
from collections import Counter
rows = lambda frame: sorted(map(repr, frame.collect()))
def both(make):
    spark.conf.set("spark.zoe.pushdown", "true")
    narrowed = make()
    plan = narrowed._jdf.queryExecution().executedPlan().toString()
    found = rows(narrowed)
    spark.conf.set("spark.zoe.pushdown", "false")
    expected = rows(make())
    missing, surplus = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    differences = {"missing": list(missing)[:3], "surplus": list(surplus)[:3], "plan": plan}
    return {"same": found == expected, "rows": len(found), "pushed": "by the store" in plan, **differences}
"""
GENERATED = (
    LOGGED
    + """
for path, kind, options, schema, where, columns in json.loads(paths[0]):
    def frame():
        reader = spark.read.options(**options)
        made = (reader.schema(schema) if schema else reader).format(kind).load(path)
        return made.where(where).select(*columns)
    try:
        print(json.dumps(both(frame)))
    except Exception as error:
        spark.conf.set("spark.zoe.pushdown", "false")
        try:
            frame().collect()
            print(json.dumps({"same": False, "pushed": True, "error": str(error)[:2000]}))
        except Exception:
            print(json.dumps({"same": True, "pushed": False}))
"""
)
DATASETS, QUERIES = (12, 8) if LONG else (2, 6)
SEEDS = (1, *(pytest.param(seed, marks=of_storage) for seed in (2, 3, 4, 5)))


@pytest.fixture
def driver(swift: ObjectStore, ann: Person, spark: Runtime, tmp_path: Path) -> SparkDriver:
    made = spark_driver(spark, swift, "acme:ann", tmp_path)
    home, java = Path(spark.environment["SPARK_HOME"]), Path(spark.environment["JAVA_HOME"])
    jars = [*made.jars, str(pushdown_jar(home, java))]
    class_path = {f"spark.{who}.extraClassPath": ":".join(jars) for who in ("driver", "executor")}
    return replace(made, timeout_s=900, jars=jars, properties={**made.properties, **class_path, **EXTENSION})


WHOLE = (
    LOGGED
    + """
import time
from pathlib import Path
path, ready, changed = paths
reader = spark.read.option("header", True).schema("id string, city string, kwh string, note string")
frame = lambda: reader.csv(path).where("kwh > 98").select("id", "city")
print(json.dumps(both(frame)))
spark.conf.set("spark.zoe.pushdown", "true")
listed = frame()
Path(ready).touch()
while not Path(changed).exists():
    time.sleep(0.05)
try:
    print(json.dumps(listed.count()))
except Exception as error:
    print(json.dumps("changed while the query was running" in str(error)))
"""
)


def test_an_unmodified_query_reads_only_what_it_needs_of_one_version(
    swift: ObjectStore, ann: Person, driver: SparkDriver
) -> None:
    lines = [f"{n},meter {n % 100},{n % 1000 / 10},{'x' * 60}" for n in range(50_000)]
    content = ("id,city,kwh,note\n" + "\n".join(lines) + "\n").encode()
    ann.put("meters")
    ann.put("meters/2015/a.csv", content)
    before = len(swift.log_of("proxy"))
    ready, changed = driver.directory / "ready", driver.directory / "changed"
    command, environment = driver.command(WHOLE, "swift2d://meters.zoe/2015/", str(ready), str(changed))
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        until(
            lambda: ready.exists() or running.poll() is not None, lambda: "the query does not begin", driver.timeout_s
        )
        # Read once plainly, and once narrowed.
        read = bytes_out(swift.log_of("proxy")[before:], "/meters/2015/a.csv")
        ann.put("meters/2015/a.csv", content.replace(b"meter", b"METER"))
        changed.touch()
        output, errors = running.communicate(timeout=driver.timeout_s)
    assert running.returncode == 0, errors[-4000:]
    found, refused = map(json.loads, output.splitlines()[-2:])
    assert (found["same"], found["rows"], found["pushed"]) == (True, 500, True), found
    assert refused is True
    assert len(content) < read < 1.2 * len(content)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_queries_have_the_same_rows_as_without_pushdown(ann: Person, driver: SparkDriver, kind: str, seed: int) -> None:
    random = Random(seed)
    made, query = (odd_csv.odd_csv, odd_csv.query) if kind == "csv" else (odd_json.odd_json, odd_json.query)
    place = f"odd-{kind}-{seed}"
    ann.put(place)
    cases = []
    for number in range(DATASETS):
        dataset = made(random)
        ann.put(f"{place}/{number}/{random.choice(('', 'day=7/'))}part.{kind}", dataset.content)
        cases += [
            [f"swift2d://{place}.zoe/{number}/", kind, dataset.options, dataset.schema, *query(random, dataset)]
            for _ in range(QUERIES)
        ]
    done = driver.run(
        GENERATED, json.dumps(cases), spark_sql_files_maxPartitionBytes="300", spark_sql_files_openCostInBytes="1"
    )
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    wrong = [(case, result) for case, result in zip(cases, results, strict=True) if not result["same"]]
    assert not wrong, f"seed {seed}: {wrong[:3]}"
    assert sum(result["pushed"] for result in results) > len(results) / 3
    read = [line for line in done.stderr.splitlines() if line.startswith("zoe: query ")]
    assert sum("plainly" not in line for line in read) > len(results) / 3
