"""A warm Spark: one driver in the application runtime that answers queries one after the other."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.spark import SparkDriver, spark_driver
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE, ensure_runtime
from zoe_embedded.swift.store import ObjectStore

_LOOP = """
import time
for line in sys.stdin:
    query = json.loads(line)
    began = time.perf_counter()
    frame = spark.read.option("header", query["header"]).schema(query["schema"]).csv(query["path"])
    if query["where"]:
        frame = frame.where(query["where"])
    found = frame.selectExpr(*query["aggregates"]).collect()[0]
    print("ANSWER " + json.dumps({"row": list(found), "s": time.perf_counter() - began}), flush=True)
"""


class SparkSession:
    """Runs queries; each returns the row of the aggregates and the seconds it took."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log

    def ask(self, path: str, schema: str, header: bool, where: str, aggregates: list[str]) -> tuple[list[Any], float]:
        """Run one query."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        query = {"path": path, "schema": schema, "header": header, "where": where, "aggregates": aggregates}
        self._process.stdin.write(json.dumps(query) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("ANSWER "):
                answer = json.loads(line.removeprefix("ANSWER "))
                return answer["row"], answer["s"]
        raise AssertionError(self._log.read_text()[-4000:])


@contextmanager
def spark_session(store: ObjectStore, login: str) -> Iterator[SparkSession]:
    """Yield a session of that user."""
    with driver(store, login) as found:
        command, environment = found.command(_LOOP)
        log = found.directory / "spark.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        try:
            yield SparkSession(process, log)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


@contextmanager
def driver(store: ObjectStore, login: str) -> Iterator[SparkDriver]:
    """Yield the drivers of that user, in a separate directory."""
    runtime = ensure_runtime(Home.find(CLONE).create())
    with tempfile.TemporaryDirectory(prefix="zoe-bench-") as apart:
        yield spark_driver(runtime, store, login, Path(apart))
