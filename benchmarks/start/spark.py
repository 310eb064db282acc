"""The demo's job, and a small job on many workers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from benchmarks.start.place import NO_VARIABLES, Place, await_success, description, end, free_port, listens
from zoe_embedded.demos.demo import fit

WORKERS = 20
_SMALL = "from pyspark import SparkContext\nprint(SparkContext().parallelize(range(400), 40).sum())\n"
MEMORY = ("--driver-memory", "512m", "--executor-memory", "512m")
LOCAL = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
PLAIN = {"ZOE_JAVA_PLAIN": "1"}
"""Variables that switch off Zoe's options for JVMs."""


def demo_here(place: Place) -> None:
    """Run the demo's description."""
    document = description("energy-report.json")
    fit(document, os.cpu_count() or 1)
    place.run_to_end(document)


def demo_bare(place: Place) -> None:
    """Run its script by plain Spark in one process."""
    script, output = place.data.directory / "energy_report.py", place.stack.home.state / "bare"
    files = ("--input", place.data.directory / "readings", "--output", output)
    await_success(place.bare("spark-submit", "--master", "local[2]", script, *files, variables=PLAIN))
    shutil.rmtree(output)


def many_here(place: Place) -> None:
    """Run a small program on many workers."""
    program = place.data.directory / "small.py"
    program.write_text(_SMALL)
    document = description("energy-report.json")
    document["frameworks"][0]["parameters"] |= {"core_workers": WORKERS, "elastic_workers": 0, "worker_cores": 0.1}
    document["frameworks"][0]["overrides"] = {"worker": {"resources": {"cores": 0.05}}}
    driver = document["components"][0]
    driver["resources"] = {"memory": "1GiB", "cores": 0.1, "limits": {"cores": 2}}
    driver["command"] = [*driver["command"][:-5], "{workspace}/energy-report/small.py"]
    place.run_to_end(document)


def many_bare(place: Place, variables: Mapping[str, str] = NO_VARIABLES) -> None:
    """Run it on as many workers that are started by Spark's own programs."""
    with own_cluster(place, WORKERS, variables) as (address, _):
        program = place.data.directory / "small.py"
        await_success(
            place.bare("spark-submit", "--master", address, *MEMORY, program, variables={**LOCAL, **variables})
        )


@contextmanager
def own_cluster(
    place: Place, workers: int, variables: Mapping[str, str] = NO_VARIABLES
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Start a master and workers by Spark's own programs; yield the master's URL, and a function that starts one more
    worker.
    """
    port, variables = free_port(), {**LOCAL, "SPARK_LOCAL_DIRS": str(place.stack.home.state / "scratch"), **variables}
    started, address = list[subprocess.Popen[bytes]](), ("--host", "127.0.0.1", "--webui-port", 0)

    def start_worker() -> None:
        own = ("--cores", 1, "--memory", "512m", "--work-dir", place.stack.home.state / f"worker-{len(started)}")
        worker = "org.apache.spark.deploy.worker.Worker"
        started.append(
            place.bare("spark-class", worker, *address, *own, f"spark://127.0.0.1:{port}", variables=variables)
        )

    try:
        master = "org.apache.spark.deploy.master.Master"
        started.append(place.bare("spark-class", master, *address, "--port", port, variables=variables))
        listens(port)
        for _ in range(workers):
            start_worker()
        yield f"spark://127.0.0.1:{port}", start_worker
    finally:
        end(started)
