package zoe.pushdown;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.csv.CSVFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.immutable.Map;

/**
 * Spark's format of CSV files, whose splits are read as lines in which the store has left only the wanted columns of the
 * rows that a condition may keep. Columns keep their positions, so that Spark's own parser reads these lines.
 */
final class StoreCsvFormat extends CSVFileFormat {
    private static final long serialVersionUID = 1;

    private final Scan scan;

    StoreCsvFormat(Scan scan) {
        this.scan = scan;
    }

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReader(
            SparkSession session, StructType dataSchema, StructType partitionSchema, StructType requiredSchema,
            Seq<Filter> filters, Map<String, String> options, Configuration hadoop) {
        SQLConf conf = session.sessionState().conf();
        CSVOptions parsed = new CSVOptions(
            options, conf.csvColumnPruning(), conf.sessionLocalTimeZone(), conf.columnNameOfCorruptRecord());
        return scan.reader(
            session, dataSchema, requiredSchema, new CsvRows(dataSchema, requiredSchema, parsed, filters), hadoop,
            super.buildReader(session, dataSchema, partitionSchema, requiredSchema, filters, options, hadoop));
    }

    @Override
    public String toString() {
        return scan.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoreCsvFormat && ((StoreCsvFormat) other).scan.equals(scan);
    }

    @Override
    public int hashCode() {
        return scan.hashCode();
    }
}
