"""Spark and JupyterLab with their classes in an archive, and the runtimes of the clone for homes of tests.

Programs of Spark are short here, and a third of their CPU time would go into loading classes: these come from an
archive that the JVM maps (https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from zoe_embedded.home import RUNTIMES_VARIABLE, Home
from zoe_embedded.runtime import CLONE, Runtime, ensure_notebook
from zoe_embedded.runtime_store import locked

JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
_MOST_CLASSES = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").getOrCreate()
rows = spark.createDataFrame([(number, number * 2.0, str(number)) for number in range(100)], ["a", "b", "c"])
rows.groupBy((rows.a % 7).alias("key")).sum("b").orderBy("key").collect()
spark.sparkContext.parallelize(range(100), 4).map(lambda number: number * number).sum()
spark.stop()
"""


def home_with_runtimes(directory: Path) -> Home:
    """A home in this directory, which finds what was installed for others."""
    return Home(directory, os.geteuid() == 0, Home.find(CLONE).runtimes)


def runtimes_of_the_clone() -> dict[str, str]:
    """The same for a process with a ZOE_HOME of its own: variables for it."""
    return {RUNTIMES_VARIABLE: str(Home.find(CLONE).runtimes)}


def spark_runtime() -> Runtime:
    """Spark and JupyterLab; installed if they are missing."""
    runtime = ensure_notebook(Home.find(CLONE).create())
    directory = Path(runtime.path[0]).parent
    archive = directory / "tests.jsa"
    with locked(directory / "tests.lock"):
        if not archive.exists():
            _make_archive(runtime, archive)
    return replace(runtime, environment={**runtime.environment, JAVA_OPTIONS: _options_with(archive)})


@contextmanager
def spark_from_the_archive() -> Iterator[None]:
    """Have all Spark that begins meanwhile load its classes from the archive."""
    with patch.dict(os.environ, {JAVA_OPTIONS: spark_runtime().environment[JAVA_OPTIONS]}):
        yield


def _options_with(archive: Path) -> str:
    """A JVM with other jars in front says that it does not use the archive; programs' output shall not."""
    return f"{os.environ.get(JAVA_OPTIONS, '')} -XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off"


def _make_archive(runtime: Runtime, archive: Path) -> None:
    """Written by a JVM that ends: that of a program which uses most of Spark."""
    draft = archive.with_suffix(".draft")
    given = f"-XX:ArchiveClassesAtExit={draft} -Xlog:cds=off -Xlog:cds+dynamic=off"
    environment = {**runtime.environment, "PATH": os.pathsep.join(runtime.path), "SPARK_SUBMIT_OPTS": given}
    program = archive.with_suffix(".py")
    program.write_text(_MOST_CLASSES)
    command = [f"{runtime.environment['SPARK_HOME']}/bin/spark-submit", "--conf", "spark.ui.port=0", str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    program.unlink()
    draft.rename(archive)
