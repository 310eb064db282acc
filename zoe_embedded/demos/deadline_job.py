"""The job of `make demo-deadline`: a report by Spark, from the object store, by workers of half a core each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from zoe_embedded.demos.data import Dataset
from zoe_embedded.demos.storage import PREFIX
from zoe_embedded.stack import Stack
from zoe_embedded.swift.site import SERVICE

NAME, CONTAINER, INPUT = "energy-pseudonyms", "deadline", "readings"
ROWS, PARTS, ROUNDS = 240_000, 24, 30
"""24 tasks, a file each: divisible among one, two or three workers. Rounds: one worker computes for longer than the
store needs at 1 MB/s, so that workers matter at most rates, and bandwidth matters with several workers.
"""
MB = 10**6
RATE = 4 * MB
"""Bytes per second of the store for all readers: little, so that reading takes as long as computing."""
WORKERS_MOST = 3
WORKER_CORES = 0.5
MASTER_CORES, DRIVER_CORES = 0.1, 0.2
JOB_CORES = MASTER_CORES + DRIVER_CORES + WORKERS_MOST * WORKER_CORES
_WORKER_MEMORY, _DRIVER_MEMORY = "1GiB", "1GiB"
_PART_BYTES_MAX = 16 << 20
_USED = {"vid": "string", "sumHC": "long", "sumHP": "long", "type": "string", "temp": "double", "region": "string"}


@dataclass(frozen=True, slots=True)
class DeadlineJob:
    """One kind of the job. name: of the application, and its directory in the workspace; container: its input; views:
    whether the store may leave out unused columns; event_log: whether Spark writes one.
    """

    name: str = NAME
    container: str = CONTAINER
    views: bool = False
    event_log: bool = False


DEMO_JOB = DeadlineJob()


def dataset(stack: Stack, rows: int, job: DeadlineJob = DEMO_JOB) -> Dataset:
    """Return the readings in the user's workspace."""
    return Dataset(stack.workspace / job.name, stack.component_account, rows, parts=PARTS)


def description(
    result: str, essential: int = 1, read_bytes_per_s: int | None = None, job: DeadlineJob = DEMO_JOB
) -> dict[str, Any]:
    """Return the job with so many essential workers of three; the others are elastic. result: the directory of its
    answer, below the job's. read_bytes_per_s: the bandwidth that it requires; None: none.
    """
    parameters = {
        "core_workers": essential,
        "elastic_workers": WORKERS_MOST - essential,
        "worker_memory": _WORKER_MEMORY,
        "worker_cores": WORKER_CORES,
    }
    readings: dict[str, Any] = {"name": INPUT, "uri": f"swift2d://{job.container}.{SERVICE}/{PREFIX}"}
    if job.views:
        readings["pushdown"] = {"columns": [{"name": name, "type": type_} for name, type_ in _USED.items()]}
    storage: dict[str, Any] = {"inputs": [readings]}
    if read_bytes_per_s is not None:
        storage["bandwidth"] = {"read": read_bytes_per_s, "guarantee": "required"}
    return {
        "version": 4,
        "name": job.name,
        "time_limit_s": 900,
        "frameworks": [
            {"framework": "spark", "parameters": parameters}
            | {"overrides": {"worker": _held_worker(job.name), "master": _MASTER}}
        ],
        "components": [_driver(result, job)],
        "storage": storage,
    }


# Otherwise half of the computing of a short run would be the compiler's.
_JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
_MASTER = {"resources": {"cores": MASTER_CORES}, "environment": _JAVA}


def _held_worker(directory: str) -> dict[str, Any]:
    """Return the parts that limit a worker to its share of a core: its control group, or `core_share.py` without
    one.
    """
    executor_mb = 512
    return {
        "command": [
            *("python3", f"{{workspace}}/{directory}/core_share.py", str(WORKER_CORES)),
            *("spark-class", "org.apache.spark.deploy.worker.Worker", "--host", "{host:self}"),
            *("--port", "{port:rpc}", "--webui-port", "{port:ui}", "--cores", "1", "--memory", f"{executor_mb}m"),
            *("--work-dir", "{scratch}", "spark://{host:master}:{port:master.rpc}"),
        ],
        "environment": _JAVA,
        "resources": {"limits": {"cores": WORKER_CORES}},
    }


def _driver(result: str, job: DeadlineJob) -> dict[str, Any]:
    here = f"{{workspace}}/{job.name}"
    options = {
        "spark.driver.host": "{host:self}",
        "spark.ui.port": "{port:ui}",
        "spark.sql.files.maxPartitionBytes": str(_PART_BYTES_MAX),
        # A file for each task: several would make tasks of unequal sizes.
        "spark.sql.files.openCostInBytes": str(_PART_BYTES_MAX),
        # Start with all workers, rather than with the first one.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    }
    if job.event_log:
        options |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file:{here}"}
    reads = ("--selected", INPUT) if job.views else ("--input", f"{{input:{INPUT}}}")
    return {
        "name": "driver",
        "image": "zoe/spark",
        "startup_order": 2,
        "ends_application": True,
        "command": [
            *("spark-submit", "--master", "spark://{host:spark-master}:{port:spark-master.rpc}"),
            *("--driver-memory", "512m", "--executor-memory", "512m"),
            *(part for name, value in options.items() for part in ("--conf", f"{name}={value}")),
            *(
                f"{here}/energy_pseudonyms.py",
                "--rounds",
                str(ROUNDS),
                *reads,
                "--output",
                f"{here}/{result}",
            ),
        ],
        "environment": {
            **_JAVA,
            "SPARK_LOCAL_HOSTNAME": "{host:self}",
            "SPARK_LOCAL_IP": "{host:self}",
            "SPARK_LOCAL_DIRS": "{scratch}",
        },
        "resources": {"memory": _DRIVER_MEMORY, "cores": DRIVER_CORES, "limits": {"cores": 1}},
        "ports": [{"name": "ui", "number": 4040, "protocol": "http", "proxied": True}],
        "progress": {"spark": "ui"},
    }


def answer_is_right(data: Dataset, result: str) -> bool:
    """Return whether the job wrote the result computed without Spark."""
    path = data.directory / result / "result.json"
    found = json.loads(path.read_text()) if path.exists() else None
    return bool(found == data.expected_rows())
