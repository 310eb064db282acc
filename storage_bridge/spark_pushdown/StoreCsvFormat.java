package zoe.pushdown;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.csv.CSVFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructField;
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
    /** Fewer columns than this share of all make a request worthwhile without a condition. */
    private static final double SHARE_OF_COLUMNS = 0.6;

    private final CsvSettings settings;
    private final Where where;

    StoreCsvFormat(CsvSettings settings, Where where) {
        this.settings = settings;
        this.where = where;
    }

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReader(
            SparkSession session, StructType dataSchema, StructType partitionSchema, StructType requiredSchema,
            Seq<Filter> filters, Map<String, String> options, Configuration hadoop) {
        Function1<PartitionedFile, Iterator<InternalRow>> plain =
            super.buildReader(session, dataSchema, partitionSchema, requiredSchema, filters, options, hadoop);
        List<Integer> columns = new ArrayList<>();
        for (StructField field : requiredSchema.fields()) {
            columns.add(dataSchema.fieldIndex(field.name()));
        }
        SQLConf conf = session.sessionState().conf();
        CSVOptions parsed = new CSVOptions(
            options, conf.csvColumnPruning(), conf.sessionLocalTimeZone(), conf.columnNameOfCorruptRecord());
        Rows rows = new Rows(dataSchema, requiredSchema, parsed, filters);
        Selection selection = new Selection(settings, columns, where, whyPlainly(columns.size(), dataSchema.length()));
        return new SplitReader(selection, StoreAccess.of(hadoop), rows, QueryLog.figures(session), plain);
    }

    private String whyPlainly(int columns, int all) {
        if (settings.plainly != null) {
            return settings.plainly;
        }
        if (columns == 0) {
            return "no column is needed";
        }
        return where.isEmpty() && columns > SHARE_OF_COLUMNS * all ? "most columns are needed, and all rows" : null;
    }

    @Override
    public String toString() {
        if (settings.plainly != null) {
            return "CSV, read plainly: " + settings.plainly;
        }
        return where.isEmpty() ? "CSV, columns by the store" : "CSV, columns and rows by the store: " + where.text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoreCsvFormat && ((StoreCsvFormat) other).where.equals(where)
            && ((StoreCsvFormat) other).settings.equals(settings);
    }

    @Override
    public int hashCode() {
        return where.hashCode();
    }
}
