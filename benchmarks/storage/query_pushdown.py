"""Queries over CSV objects in Swift with pushdown and without: the 22 of TPC-H, and 20 scans of one table.

    python -m benchmarks.storage.query_pushdown DIRECTORY [QUERY ...] [--pairs 7] [--caps 0 5] [--results FILE]

DIRECTORY holds the tables as CSV with headers, for example those of `tpchgen-cli --format csv --scale-factor 0.1`. Both
ways run in one warm session of Spark with two cores, one after the other. Their rows must be equal. With --results,
cells that stand in that file are not measured again. Seconds are medians of the pairs, ratios those of the pairs; CPU
seconds are those of Spark and the store together, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from benchmarks.storage.pushdown import ACCOUNT, LOGIN, SETTLE_S
from benchmarks.storage.spark_session import driver
from benchmarks.storage.table import load
from benchmarks.support import machine
from tests.support.access_log import bytes_out
from tests.support.object_store import logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.spark import SparkDriver
from zoe_embedded.runtimes.pushdown_jar import pushdown_jar
from zoe_embedded.swift.store import ObjectStore

QUERIES = Path(__file__).with_name("tpch.sql")
SCHEMAS = {
    "region": "r_regionkey bigint, r_name string, r_comment string",
    "nation": "n_nationkey bigint, n_name string, n_regionkey bigint, n_comment string",
    "supplier": "s_suppkey bigint, s_name string, s_address string, s_nationkey bigint, s_phone string, "
    "s_acctbal decimal(15,2), s_comment string",
    "customer": "c_custkey bigint, c_name string, c_address string, c_nationkey bigint, c_phone string, "
    "c_acctbal decimal(15,2), c_mktsegment string, c_comment string",
    "part": "p_partkey bigint, p_name string, p_mfgr string, p_brand string, p_type string, p_size int, "
    "p_container string, p_retailprice decimal(15,2), p_comment string",
    "partsupp": "ps_partkey bigint, ps_suppkey bigint, ps_availqty bigint, ps_supplycost decimal(15,2), "
    "ps_comment string",
    "orders": "o_orderkey bigint, o_custkey bigint, o_orderstatus string, o_totalprice decimal(15,2), "
    "o_orderdate date, o_orderpriority string, o_clerk string, o_shippriority int, o_comment string",
    "lineitem": "l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber int, l_quantity decimal(15,2), "
    "l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag string, "
    "l_linestatus string, l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct string, "
    "l_shipmode string, l_comment string",
}
_CONTAINER = "tpch"
_LOOP = """
import time
for table, schema in json.loads(paths[0]).items():
    frame = spark.read.option("header", True).schema(schema).csv(f"swift2d://tpch.zoe/{table}/")
    frame.createOrReplaceTempView(table)
print("ANSWER {}", flush=True)
for line in sys.stdin:
    query = json.loads(line)
    spark.conf.set("spark.zoe.pushdown", query["pushdown"])
    began = time.perf_counter()
    frame = spark.sql(query["sql"])
    rows = list(map(repr, frame.collect()))
    plan = frame._jdf.queryExecution().executedPlan().toString() if query["pushdown"] == "true" else ""
    answer = {"rows": rows, "s": time.perf_counter() - began, "pushed": plan.count("by the store")}
    print("ANSWER " + json.dumps(answer), flush=True)
"""
_EXTENSION = {"spark.sql.extensions": "zoe.pushdown.Extensions"}


@dataclass(frozen=True)
class Run:
    """One run of a query."""

    rows: list[str]
    took_s: float
    cpu_s: float
    moved: int
    pushed: int


class Session:
    """A warm Spark with the tables."""

    def __init__(self, process: subprocess.Popen[str], log: Path, store: ObjectStore) -> None:
        self._process = process
        self._log = log
        self._store = store
        self._answer()

    def run(self, sql: str, pushdown: bool) -> Run:
        """Run a query, with pushdown or plainly."""
        assert self._process.stdin is not None
        before, used_s = len(self._store.log_of("proxy")), _cpu_s()
        self._process.stdin.write(json.dumps({"sql": sql, "pushdown": str(pushdown).lower()}) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        moved = bytes_out(self._store.log_of("proxy")[before:], f"/{_CONTAINER}/")
        return Run(answer["rows"], answer["s"], _cpu_s() - used_s, moved, answer["pushed"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("ANSWER "):
                answer: dict[str, Any] = json.loads(line.removeprefix("ANSWER "))
                return answer
        raise AssertionError(self._log.read_text()[-4000:])


@contextmanager
def session(store: ObjectStore) -> Iterator[Session]:
    """Yield a session of the tables' owner."""
    with driver(store, LOGIN) as plain:
        made = with_pushdown(plain)
        command, environment = made.command(_LOOP, json.dumps(SCHEMAS), spark_sql_shuffle_partitions="4")
        log = made.directory / "spark.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        try:
            yield Session(process, log, store)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


def with_pushdown(made: SparkDriver) -> SparkDriver:
    """Return the driver with the extension."""
    environment = made.runtime.environment
    jars = [*made.jars, str(pushdown_jar(Path(environment["SPARK_HOME"]), Path(environment["JAVA_HOME"])))]
    class_path = {f"spark.{who}.extraClassPath": ":".join(jars) for who in ("driver", "executor")}
    return replace(made, jars=jars, properties={**made.properties, **class_path, **_EXTENSION})


def _cpu_s() -> float:
    used = (process.cpu_times() for process in psutil.Process().children(recursive=True))
    return sum(times.user + times.system for times in used)


def queries() -> dict[str, str]:
    """Return the queries by name."""
    parts = re.split(r"^-- ([qs]\d+)$", QUERIES.read_text(), flags=re.MULTILINE)[1:]
    return {name: text.rpartition(";")[0].strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


def measure(session: Session, pusher: Pusher, sql: str, cap: float, pairs: int) -> dict[str, Any]:
    """Return the figures of a query at this many MB/s (0: unlimited)."""
    pusher.push(**({ACCOUNT: {"get": cap * 1e6}} if cap else {}))
    time.sleep(SETTLE_S)
    both = [(session.run(sql, False), session.run(sql, True)) for _ in range(pairs)]
    pusher.push()
    ratios = sorted(pushed.took_s / plain.took_s for plain, pushed in both)
    first, second = both[-1]
    return {
        "same": all(plain.rows == pushed.rows for plain, pushed in both),
        "rows": len(first.rows),
        "plain_s": round(statistics.median(plain.took_s for plain, _ in both), 3),
        "pushed_s": round(statistics.median(pushed.took_s for _, pushed in both), 3),
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratios[0], 3), round(ratios[-1], 3)],
        "plain_cpu_s": round(statistics.median(plain.cpu_s for plain, _ in both), 3),
        "pushed_cpu_s": round(statistics.median(pushed.cpu_s for _, pushed in both), 3),
        "plain_bytes": first.moved,
        "pushed_bytes": second.moved,
        "scans": second.pushed,
        "load": load(),
    }


def main() -> int:
    """Measure and print; return 1 if rows differ."""
    options = _options()
    chosen = {name: text for name, text in queries().items() if name in options.queries or not options.queries}
    done = _known(options.results)
    wrong = []
    print(f"{machine()}, {load()}", flush=True)
    with pushed_store(object_workers=2) as (store, pusher):
        with logged_in(store, LOGIN) as person:
            person.put(_CONTAINER)
            for table in SCHEMAS:
                person.put(f"{_CONTAINER}/{table}/part.csv", (options.directory / f"{table}.csv").read_bytes())
        time.sleep(3)  # objects that were written just now are read plainly
        with session(store) as spark:
            for cap, (name, sql) in ((cap, query) for cap in options.caps for query in chosen.items()):
                if (name, cap) in done:
                    continue
                spark.run(sql, True)
                found = measure(spark, pusher, sql, cap, options.pairs)
                _tell(name, cap, found)
                wrong += [name] if not found["same"] else []
                if options.results:
                    with options.results.open("a") as out:
                        out.write(json.dumps({"query": name, "cap": cap, **found}) + "\n")
    print(f"rows that differ: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


def _tell(name: str, cap: float, found: dict[str, Any]) -> None:
    rate = f"{cap:g} MB/s" if cap else "unlimited"
    print(
        f"{name:<4} {rate:<10} {found['plain_s']:8.2f} s {found['pushed_s']:8.2f} s  "
        f"ratio {found['ratio']:.2f} ({found['ratios'][0]:.2f} to {found['ratios'][1]:.2f})  "
        f"CPU {found['plain_cpu_s']:6.2f} {found['pushed_cpu_s']:6.2f} s  "
        f"{found['plain_bytes'] / 1e6:8.2f} -> {found['pushed_bytes'] / 1e6:7.2f} MB  "
        f"{'same rows' if found['same'] else 'OTHER ROWS'}",
        flush=True,
    )


def _known(results: Path | None) -> set[tuple[str, float]]:
    if results is None or not results.exists():
        return set()
    return {(line["query"], line["cap"]) for line in map(json.loads, results.read_text().splitlines())}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("queries", nargs="*", help="all if none is named")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--caps", type=float, nargs="*", default=[0.0], help="MB/s; 0: none")
    parser.add_argument("--results", type=Path, help="file of JSON lines to continue")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
