"""The Scala program of the documentation reads what `zoe_input` reads, plainly and through a view."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.storage.test_reference import NAMED
from tests.support.long import of_storage
from tests.support.spark import local_driver
from tests.support.spark_reference import compared
from zoe_embedded.runtimes.runtime import CLONE, Runtime

PAGE = CLONE / "docs" / "store" / "views.md"
SCALA = """
meters.toJSON.collect().sorted.foreach(row => println("ROW " + row))
System.exit(0)
"""
PYTHON = """
import zoe_spark
for path in paths:
    rows = zoe_spark.read(spark, json.load(open(path))["meters"]).toJSON().collect()
    print(json.dumps(sorted(rows)))
"""
CASES = ("days", "64 bits, greater", "a header in one object, another in the next")


@of_storage
def test_the_documented_scala_program_finds_what_the_module_finds(spark: Runtime, tmp_path: Path) -> None:
    [snippet] = re.findall(r"```scala\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    program = tmp_path / "meters.scala"
    program.write_text(snippet + SCALA)
    documents = [entry for pair in compared([NAMED[name] for name in CASES], tmp_path) for entry in pair]
    paths = [told_in(tmp_path / f"{number}.json", told) for number, told in enumerate(documents)]
    done = local_driver(spark, tmp_path).run(PYTHON, *map(str, paths))
    expected = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(expected)
    assert [by_scala(spark, program, path) for path in paths] == expected


def told_in(path: Path, told: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"meters": told}))
    return path


def by_scala(spark: Runtime, program: Path, inputs: Path) -> list[str]:
    """The rows that the program prints in `spark-shell`, as JSON."""
    shell = f"{spark.environment['SPARK_HOME']}/bin/spark-shell"
    environment = {**spark.environment, "PATH": ":".join(spark.path), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [shell, "--master", "local[1]", "--conf", "spark.ui.enabled=false", "-i", str(program)]
    done = subprocess.run(
        command,
        env={**environment, "HOME": str(inputs.parent), "ZOE_INPUTS": str(inputs)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line.removeprefix("ROW ") for line in done.stdout.splitlines() if line.startswith("ROW ")]
