"""The energy report of one region from the object store, twice: from plain objects, and from what the store selects.

    spark-submit energy_report_swift.py --region REGION --plain URI --selected URI --columns A,B --output DIRECTORY

`energy_report.py` lies beside it. The second input is read by `zoe_input`, which reads plain objects where a view would
not have paid; then there are no columns. Times are of warm queries; bytes are those of the objects that the store
sends. The last line is `bytes plain=N pushdown=M`.
"""

import argparse
import time
from pathlib import Path

from energy_report import COLUMNS, QUERY, write


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
    _report(spark, _read_selected)  # warm-up: the first query also starts executors
    plain, plain_s = _report(spark, lambda spark: _plain(spark, arguments.plain, arguments.region))
    selected, selected_s = _report(spark, _read_selected)
    if plain != selected:
        raise SystemExit("the two reports differ")
    write(selected, arguments.output)
    for row in selected:
        print(*row.values(), sep="\t")
    print(f"seconds plain={plain_s:.2f} pushdown={selected_s:.2f}")
    plain_bytes = _bytes_of(spark, arguments.plain, "")
    selected_bytes = _bytes_of(spark, arguments.selected, arguments.columns)
    print(f"bytes plain={plain_bytes} pushdown={selected_bytes}", flush=True)


def _plain(spark, source: str, region: str):
    schema = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
    readings = spark.read.csv(source, schema=schema, header=True, mode="FAILFAST")
    return readings.where(readings.region == region)


def _read_selected(spark):
    """Return the rows and columns that the description selects from this input."""
    from zoe_spark import zoe_input

    return zoe_input(spark, "selected")


def _report(spark, read) -> tuple[list[dict[str, object]], float]:
    """Return the report's rows, and the seconds of the query."""
    began_s = time.monotonic()
    read(spark).createOrReplaceTempView("readings")
    rows = [row.asDict() for row in spark.sql(QUERY).collect()]
    return rows, time.monotonic() - began_s


def _bytes_of(spark, source: str, columns: str) -> int:
    """Return the bytes that the store sends for the whole source. Objects of a view have no size until they are read,
    so it is read again.
    """
    length = "length(content)" if columns else "length"
    return spark.read.format("binaryFile").load(source).selectExpr(f"sum({length})").collect()[0][0]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--region", required=True)
    parser.add_argument("--plain", required=True, help="URI of CSV readings")
    parser.add_argument("--selected", required=True, help="URI of the same, or of a view of them")
    parser.add_argument("--columns", default="", help="columns of the view; empty: it is none")
    parser.add_argument("--output", required=True, type=Path, help="directory for result.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
