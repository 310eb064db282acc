package zoe.pushdown;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.Iterator;

/** What a query asks of the store in one scan. */
final class Scan implements Serializable {
    private static final long serialVersionUID = 1;
    /** Fewer columns than this share of all make a request worthwhile without a condition. */
    private static final double SHARE_OF_COLUMNS = 0.6;

    private final Settings settings;
    private final Where where;

    Scan(Settings settings, Where where) {
        this.settings = settings;
        this.where = where;
    }

    /** Returns the function that reads splits. plain: Spark's own. */
    Function1<PartitionedFile, Iterator<InternalRow>> reader(
            SparkSession session, StructType dataSchema, StructType requiredSchema, Rows rows, Configuration hadoop,
            Function1<PartitionedFile, Iterator<InternalRow>> plain) {
        List<Integer> columns = new ArrayList<>();
        for (StructField field : requiredSchema.fields()) {
            columns.add(dataSchema.fieldIndex(field.name()));
        }
        Selection selection = new Selection(settings, columns, where, whyPlainly(columns, dataSchema.length()));
        return new SplitReader(selection, StoreAccess.of(hadoop), rows, QueryLog.figures(session), plain);
    }

    private String whyPlainly(List<Integer> columns, int all) {
        if (settings.plainly != null) {
            return settings.plainly;
        }
        if (columns.isEmpty()) {
            return "no column is needed";
        }
        if (where.isEmpty() && columns.size() > SHARE_OF_COLUMNS * all) {
            return "most columns are needed, and all rows";
        }
        return settings.whyNot(columns);
    }

    /** Returns a text for plans. */
    @Override
    public String toString() {
        if (settings.plainly != null) {
            return settings.name + ", read plainly: " + settings.plainly;
        }
        return settings.name + (where.isEmpty() ? ", columns by the store" : ", columns and rows by the store: " + where.text);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Scan && ((Scan) other).where.equals(where) && ((Scan) other).settings.equals(settings);
    }

    @Override
    public int hashCode() {
        return where.hashCode();
    }
}
