"""The energy report with pseudonyms: each meter's name is hashed many times before readings are grouped by it.

    spark-submit energy_pseudonyms.py --rounds N --input DIRECTORY_OR_URI --output DIRECTORY
    spark-submit energy_pseudonyms.py --rounds N --selected INPUT --output DIRECTORY

INPUT is one of the application's that may be read through a view.
`energy_report.py` lies beside it. The rounds make a name slow to guess, and the report slow to compute: executors do
the same work on each row, so it is shared by all of them. Meters stay apart, so the report's rows are the same.
"""

import argparse
from functools import reduce
from pathlib import Path

from energy_report import COLUMNS, QUERY, write


def report(source: str, selected: str, rounds: int) -> list[dict[str, object]]:
    """Return the report's rows, computed by the cluster of the current Spark session, from a URI or a selected
    input.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import sha2

    spark = (
        SparkSession.builder.appName("energy-pseudonyms")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    try:
        readings = _read_selected(spark, selected) if selected else _plain(spark, source)
        pseudonym = reduce(lambda name, _: sha2(name, 256), range(rounds), readings.vid)
        readings.withColumn("vid", pseudonym).createOrReplaceTempView("readings")
        return [row.asDict() for row in spark.sql(QUERY).collect()]
    finally:
        spark.stop()


def _plain(spark, source: str):
    schema = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
    return spark.read.csv(source, schema=schema, header=True, mode="FAILFAST")


def _read_selected(spark, name: str):
    from zoe_spark import zoe_input

    return zoe_input(spark, name)


def main() -> None:
    """Compute and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=8, help="hashes of each name")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--input", default="", help="directory or URI of CSV readings")
    source.add_argument("--selected", default="", help="input of the application, through a view or not")
    parser.add_argument("--output", required=True, type=Path, help="directory for result.json")
    arguments = parser.parse_args()
    write(report(arguments.input, arguments.selected, arguments.rounds), arguments.output)


if __name__ == "__main__":
    main()
