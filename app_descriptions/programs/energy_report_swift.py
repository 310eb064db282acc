"""The energy report of one region from the object store, twice: without pushdown, and with it.

    spark-submit energy_report_swift.py --region REGION --input URI --output DIRECTORY

`energy_report.py` lies beside it. Both ways run the same query; `spark.zoe.pushdown` is the only difference. Times are
of warm queries. The last line is `bytes plain=N pushdown=M`: of all objects, and of what the store sent.
"""

import argparse
import json
import time
import urllib.request
from pathlib import Path

from energy_report import COLUMNS, QUERY, write

_SCHEMA = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())


def main() -> None:
    """Compute both reports, compare them, and print their times and bytes."""
    from pyspark.sql import SparkSession

    arguments = _arguments()
    spark = (
        SparkSession.builder.appName("energy-report-swift")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    _report(spark, arguments, "true")  # warm-up: the first query also starts executors
    plain, plain_s = _report(spark, arguments, "false")
    before = _bytes_read(spark)
    pushed, pushed_s = _report(spark, arguments, "true")
    pushed_bytes = _bytes_read(spark) - before
    if plain != pushed:
        raise SystemExit("the two reports differ")
    write(pushed, arguments.output)
    for row in pushed:
        print(*row.values(), sep="\t")
    print(f"seconds plain={plain_s:.2f} pushdown={pushed_s:.2f}")
    objects = spark.read.format("binaryFile").load(arguments.input)
    plain_bytes = objects.selectExpr("sum(length)").collect()[0][0]
    print(f"bytes plain={plain_bytes} pushdown={pushed_bytes}", flush=True)


def _report(spark, arguments: argparse.Namespace, pushdown: str) -> tuple[list[dict[str, object]], float]:
    """Return the report's rows, and the seconds of the query."""
    spark.conf.set("spark.zoe.pushdown", pushdown)
    began_s = time.monotonic()
    readings = spark.read.csv(arguments.input, schema=_SCHEMA, header=True)
    readings.where(readings.region == arguments.region).createOrReplaceTempView("readings")
    rows = [row.asDict() for row in spark.sql(QUERY).collect()]
    return rows, time.monotonic() - began_s


def _bytes_read(spark) -> int:
    """Return the bytes that pushdown has read, from Spark's own REST interface; Stocator's are not counted there."""
    context = spark.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    time.sleep(0.5)  # metrics arrive just after the result
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - http, of this driver
        return sum(stage["inputBytes"] for stage in json.load(answer))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--region", required=True)
    parser.add_argument("--input", required=True, help="URI of CSV readings")
    parser.add_argument("--output", required=True, type=Path, help="directory for result.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
