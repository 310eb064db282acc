"""Use what most programs of Spark use, in this JVM, so that an archive written at its end has those classes.

A cluster in miniature loads those of daemons, and work in this process those of executors.
"""

import tempfile

from pyspark.sql import SparkSession, functions

DAEMONS = ("deploy.master.Master", "deploy.worker.Worker", "executor.CoarseGrainedExecutorBackend")
FORMS = ("csv", "json", "parquet", "text")


def session(master: str) -> SparkSession:
    """Start Spark."""
    return SparkSession.builder.master(master).config("spark.sql.shuffle.partitions", "2").getOrCreate()


def schedule() -> None:
    """Run one small job on executors of their own."""
    spark = session("local-cluster[1,1,512]")
    for name in DAEMONS:
        spark._jvm.java.lang.Class.forName(f"org.apache.spark.{name}")
    spark.sparkContext.parallelize(range(10), 2).sum()
    spark.stop()


def compute() -> None:
    """Read, write and aggregate small tables in this process."""
    spark = session("local[1]")
    rows = spark.createDataFrame([(number, number * 2.0, str(number)) for number in range(100)], ["a", "b", "c"])
    with tempfile.TemporaryDirectory() as place:
        for form in FORMS:
            frame = rows.select("c") if form == "text" else rows
            frame.write.format(form).save(f"{place}/{form}")
            spark.read.schema(frame.schema).format(form).load(f"{place}/{form}").count()
    rows.createOrReplaceTempView("rows")
    spark.sql("SELECT a % 7 AS k, COUNT(*), SUM(b), MAX(c) FROM rows WHERE b > 3 GROUP BY a % 7 ORDER BY k").collect()
    rows.join(rows.select("a", functions.col("b").alias("d")), "a").groupBy("c").agg(functions.sum("d")).collect()
    pairs = spark.sparkContext.parallelize(range(100), 4).map(lambda number: (number % 3, number))
    pairs.reduceByKey(lambda entry, other: entry + other).collect()
    spark.stop()


if __name__ == "__main__":
    schedule()
    compute()
