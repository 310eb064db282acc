package zoe.pushdown;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.immutable.Map;

/**
 * Spark's format of JSON lines, whose splits are read as lines in which the store has left only the wanted fields of the
 * lines that a condition may keep.
 */
final class StoreJsonFormat extends JsonFileFormat {
    private static final long serialVersionUID = 1;

    private final Scan scan;

    StoreJsonFormat(Scan scan) {
        this.scan = scan;
    }

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReader(
            SparkSession session, StructType dataSchema, StructType partitionSchema, StructType requiredSchema,
            Seq<Filter> filters, Map<String, String> options, Configuration hadoop) {
        Rows rows = new JsonRows(requiredSchema, JsonSettings.options(session, options), filters);
        return scan.reader(
            session, dataSchema, requiredSchema, rows, hadoop,
            super.buildReader(session, dataSchema, partitionSchema, requiredSchema, filters, options, hadoop));
    }

    @Override
    public String toString() {
        return scan.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoreJsonFormat && ((StoreJsonFormat) other).scan.equals(scan);
    }

    @Override
    public int hashCode() {
        return scan.hashCode();
    }
}
