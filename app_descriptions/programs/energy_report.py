"""Consumption by region and type of dwelling from smart-meter readings, with Spark SQL.

    spark-submit energy_report.py --input DIRECTORY_OR_URI --output DIRECTORY

Reads CSV with a header line and the columns below, writes `result.json` into the output directory: a list of rows
sorted by region and type. All amounts are whole watt-hours, so an answer computed elsewhere can be compared exactly.
"""

import argparse
import json
from pathlib import Path

COLUMNS = {
    "vid": "STRING",
    "date": "STRING",
    "index": "BIGINT",
    "sumHC": "BIGINT",
    "sumHP": "BIGINT",
    "type": "STRING",
    "size": "INT",
    "temp": "DOUBLE",
    "city": "STRING",
    "region": "STRING",
    "lat": "DOUBLE",
    "lng": "DOUBLE",
}

# The counters only grow, so a meter's consumption is its last value less its first.
QUERY = """
    SELECT region, type,
           COUNT(*) AS meters,
           SUM(readings) AS readings,
           SUM(off_peak_wh) AS off_peak_wh,
           SUM(peak_wh) AS peak_wh,
           SUM(off_peak_wh) + SUM(peak_wh) AS consumption_wh,
           MIN(temp_min) AS temp_min,
           MAX(temp_max) AS temp_max
    FROM (SELECT vid, region, type,
                 COUNT(*) AS readings,
                 MAX(sumHC) - MIN(sumHC) AS off_peak_wh,
                 MAX(sumHP) - MIN(sumHP) AS peak_wh,
                 MIN(temp) AS temp_min,
                 MAX(temp) AS temp_max
          FROM readings
          GROUP BY vid, region, type) AS meter
    GROUP BY region, type
    ORDER BY region, type
"""


def report(source: str) -> list[dict[str, object]]:
    """Return the report's rows, computed by the cluster of the current Spark session."""
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.appName("energy-report")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    try:
        schema = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
        spark.read.csv(source, schema=schema, header=True, mode="FAILFAST").createOrReplaceTempView("readings")
        return [row.asDict() for row in spark.sql(QUERY).collect()]
    finally:
        spark.stop()


def write(rows: list[dict[str, object]], directory: Path) -> None:
    """Write the rows to `result.json`, which appears only when it is complete."""
    directory.mkdir(parents=True, exist_ok=True)
    partial = directory / ".result.json.part"
    partial.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    partial.replace(directory / "result.json")


def main() -> None:
    """Compute, write and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--input", required=True, help="directory or URI of CSV readings")
    parser.add_argument("--output", required=True, type=Path, help="directory for result.json")
    arguments = parser.parse_args()
    rows = report(arguments.input)
    write(rows, arguments.output)
    for row in rows:
        print(*row.values(), sep="\t")


if __name__ == "__main__":
    main()
