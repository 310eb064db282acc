"""The cost of `zoe_input` reading all columns of a line (`columnPruning` false), in paired runs of real Spark.

    .venv/bin/python -m benchmarks.column_pruning

Reads the file of `csv_reader` on one core with the module that applications get, 2 of 12 columns and 1 % of the rows,
with and without the option: nine pairs after a warm-up, in alternating order. Seconds are CPU seconds of the JVM, so
that other work on the machine hardly counts.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.csv_reader import make
from storage_bridge import zoe_spark
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE, ensure_runtime

PAIRS = 9
PROGRAM = """
import json, os, sys
from pyspark.sql import SparkSession
import zoe_spark
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
csv = {"sep": ",", "quote": '"', "escape": "\\\\", "nullValue": "", "header": "true", "multiLine": "false"}
where = "city = 'Nice' and kwh > 96"
types = {"id": "long", "kwh": "double"}
jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
def used():
    fields = open(f"/proc/{jvm}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
def seconds(pruned):
    options = {**csv, "columnPruning": "true" if pruned else "false"}
    told = {"uri": sys.argv[1], "columns": [], "names": [], "select": ["id", "kwh"], "needed": ["id", "kwh", "city"],
            "types": types, "where": where, "csv": options}
    began = used()
    rows = len(zoe_spark.read(spark, told).collect())
    return used() - began, rows
pairs = []
for number in range(int(sys.argv[2]) + 1):
    first = seconds(number % 2 == 0)
    second = seconds(number % 2 == 1)
    assert first[1] == second[1]
    pairs.append([first[0], second[0]] if number % 2 == 0 else [second[0], first[0]])
print(json.dumps(pairs[1:]))
"""


def main() -> None:
    """Print seconds and rates with pruning and without, and the ratio of each pair."""
    runtime = ensure_runtime(Home.find(CLONE).create())
    environment = {**runtime.environment, "PATH": ":".join(runtime.path), "SPARK_LOCAL_IP": "127.0.0.1"}
    with tempfile.TemporaryDirectory() as apart:
        size = make(Path(apart) / "readings.csv")
        shutil.copy(zoe_spark.__file__, apart)
        done = subprocess.run(
            [runtime.environment["PYSPARK_PYTHON"], "-c", PROGRAM, f"file://{apart}/readings.csv", str(PAIRS)],
            env={**environment, "HOME": apart, "PYTHONPATH": apart},
            capture_output=True,
            text=True,
            check=True,
        )
    pairs: list[tuple[float, float]] = json.loads(done.stdout.splitlines()[-1])
    print(f"{size / 1e6:.0f} MB, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, times in zip(("pruned", "all columns"), zip(*pairs, strict=True), strict=True):
        rates = sorted(size / took_s / 1e6 for took_s in times)
        print(f"{name:<12} median {statistics.median(rates):5.1f} MB/s of {rates[0]:.1f} to {rates[-1]:.1f}")
    ratios = sorted(whole / pruned for pruned, whole in pairs)
    told = f"median {statistics.median(ratios):.2f} of {ratios[0]:.2f} to {ratios[-1]:.2f}"
    print(f"seconds with all columns to pruned: {told}")


if __name__ == "__main__":
    main()
