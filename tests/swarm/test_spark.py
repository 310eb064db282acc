"""A Spark cluster of many workers; test_notebook.py has a small one, and what the image brings for Swift."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.images import provide
from tests.support.swarm_installation import Installation, document, needs_time
from tests.swarm.cluster import Cluster

WORKERS = 20
DEADLINE_S = 420.0
# A barrier stage runs all its tasks at once or not at all, so it needs every worker.
CLUSTER = """
import json, os, socket, sys, time, urllib.request
from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession

wanted = int(sys.argv[1])
spark = SparkSession.builder.appName("hosts").getOrCreate()
master = spark.sparkContext.master.split("//")[1].split(":")[0]
def alive():
    with urllib.request.urlopen(f"http://{master}:8080/json/") as answer:
        return sorted(worker["host"] for worker in json.load(answer)["workers"] if worker["state"] == "ALIVE")
def executors():
    return spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
while len(alive()) < wanted or executors() < wanted:
    time.sleep(0.5)
def part(numbers):
    BarrierTaskContext.get().barrier()
    yield socket.gethostname(), sum(numbers), os.getuid()
numbers = spark.sparkContext.parallelize(range(1000 * wanted), wanted)
print("RESULT", json.dumps({"alive": alive(), "parts": numbers.barrier().mapPartitions(part).collect()}))
"""


@pytest.fixture
def installation(swarm: Cluster, installation: Installation) -> Installation:
    provide(swarm, "zoe/spark")
    return installation


def result(printed: str) -> dict[str, Any]:
    """What a program of ours printed."""
    found = re.search(r"^RESULT (.*)$", printed, re.MULTILINE)
    assert found, printed
    answer: dict[str, Any] = json.loads(found[1])
    return answer


@needs_time
def test_every_worker_takes_part(installation: Installation) -> None:
    (installation.workspace / "program.py").write_text(CLUSTER)
    description = document("spark-submit")
    description["frameworks"][0]["parameters"] = {
        "core_workers": WORKERS, "elastic_workers": 0, "worker_memory": "1GiB", "worker_cores": 0.1,
    }  # fmt: skip
    command = description["components"][0]["command"]
    command[command.index("--executor-memory") + 1] = "512m"
    command.append(str(WORKERS))
    ended = installation.succeed(description, DEADLINE_S)
    found = result(installation.output(ended, "driver"))
    hosts = {f"spark-worker-{index}" for index in range(WORKERS)}
    assert set(found["alive"]) == hosts
    assert {host for host, _, _ in found["parts"]} == hosts
    assert {uid for _, _, uid in found["parts"]} == {5001}
    assert sum(total for _, total, _ in found["parts"]) == sum(range(1000 * WORKERS))
    assert len({service.node for service in ended.services}) == 3
