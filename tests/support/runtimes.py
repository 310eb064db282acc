"""Spark, JupyterLab and MPI, installed once for all tests of a clone instead of once for each home.

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

from zoe_embedded.home import Home
from zoe_embedded.mpi_runtime import ensure_mpi
from zoe_embedded.runtime import CLONE, Runtime, building, ensure_notebook
from zoe_embedded.swift.environment import ensure_swift

JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
_MOST_CLASSES = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").getOrCreate()
rows = spark.createDataFrame([(number, number * 2.0, str(number)) for number in range(100)], ["a", "b", "c"])
rows.groupBy((rows.a % 7).alias("key")).sum("b").orderBy("key").collect()
spark.sparkContext.parallelize(range(100), 4).map(lambda number: number * number).sum()
spark.stop()
"""


def tests_home() -> Home:
    """Beside the home of the clone, whose owner may not want JupyterLab in it. Only its runtimes are used."""
    own = Home.find(CLONE, {})
    return Home(own.path.with_name(f"{own.path.name}-tests"), own.by_root).create()


def spark_runtime() -> Runtime:
    """Spark and JupyterLab; installed if they are missing or have changed."""
    home = tests_home()
    runtime = ensure_notebook(home)
    with building(home):
        archive = _archive(home)
        if not archive.exists():
            _make_archive(runtime, archive)
    return replace(runtime, environment={**runtime.environment, JAVA_OPTIONS: _options_with(archive)})


@contextmanager
def lent_spark(home: Home) -> Iterator[None]:
    """Make them those of this home, too. Installing takes 24 CPU seconds; tests of how that goes do it themselves."""
    options = spark_runtime().environment[JAVA_OPTIONS]
    _lend("spark", home)
    with patch.dict(os.environ, {JAVA_OPTIONS: options}):
        yield


def lend_mpi(home: Home) -> None:
    """The same for MPI."""
    ensure_mpi(tests_home())
    _lend("mpi", home)


def lend_swift(home: Home) -> None:
    """The same for OpenStack Swift, which is installed in the home of the clone, as all stores of tests use it."""
    own = Home.find(CLONE).create()
    ensure_swift(own)
    _lend("swift", home, own)


def _lend(name: str, home: Home, owner: Home | None = None) -> None:
    (home.create().runtime / name).symlink_to((owner or tests_home()).runtime / name)


def _archive(home: Home) -> Path:
    """Where it is removed whenever the runtime is installed again."""
    return home.runtime / "spark" / "tests.jsa"


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
