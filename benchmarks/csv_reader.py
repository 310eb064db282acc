"""Rate at which one task of Spark parses CSV: the basis of `storage_bridge/pushdown.py`.

    .venv/bin/python -m benchmarks.csv_reader

Reads one file of about 100 MB with twelve columns from the page cache on one core, selects 1 % of its rows and two of
its columns, six times in one session, of which the first is a warm-up.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE, ensure_runtime

ROWS = 1_200_000
CITIES = ("Nice", "Paris", "Lyon", "Lille")
PROGRAM = """
import json, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
times = []
for _ in range(6):
    began = time.perf_counter()
    readings = spark.read.option("header", True).csv(sys.argv[1])
    readings.where("city = 'Nice' and cast(kwh as double) > 96").select("id", "kwh").collect()
    times.append(time.perf_counter() - began)
print(json.dumps(times[1:]))
"""


def make(path: Path) -> int:
    """Write a file of readings; return its size in bytes."""
    numbers = random.Random(1)
    with path.open("w") as file:
        file.write("id,city,kwh," + ",".join(f"c{n}" for n in range(9)) + "\n")
        for row in range(ROWS):
            rest = ",".join(str(numbers.randrange(10**6)) for _ in range(9))
            file.write(f"{row},{numbers.choice(CITIES)},{numbers.random() * 100:.3f},{rest}\n")
    return path.stat().st_size


def main() -> None:
    """Print the rate of each run and the median, in MB/s."""
    runtime = ensure_runtime(Home.find(CLONE).create())
    environment = {**runtime.environment, "PATH": ":".join(runtime.path), "SPARK_LOCAL_IP": "127.0.0.1"}
    with tempfile.TemporaryDirectory() as apart:
        size = make(Path(apart) / "readings.csv")
        python = runtime.environment["PYSPARK_PYTHON"]
        done = subprocess.run(
            [python, "-c", PROGRAM, f"file://{apart}/readings.csv"],
            env={**environment, "HOME": apart},
            capture_output=True,
            text=True,
            check=True,
        )
    rates = [size / took_s / 1e6 for took_s in json.loads(done.stdout.splitlines()[-1])]
    print(f"{size / 1e6:.0f} MB, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("MB/s:", " ".join(f"{rate:.1f}" for rate in rates), f"median {statistics.median(rates):.1f}")


if __name__ == "__main__":
    main()
