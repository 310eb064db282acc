package zoe.pushdown;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.csv.CSVHeaderChecker;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.csv.UnivocityParser;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.collection.Seq;

/** Parses lines as Spark's own reader of CSV files does. */
final class Rows implements Serializable {
    private static final long serialVersionUID = 1;

    private final StructType dataSchema;
    private final StructType requiredSchema;
    private final CSVOptions options;
    private final Seq<Filter> filters;

    Rows(StructType dataSchema, StructType requiredSchema, CSVOptions options, Seq<Filter> filters) {
        this.dataSchema = dataSchema;
        this.requiredSchema = requiredSchema;
        this.options = options;
        this.filters = filters;
    }

    /** Returns the rows of lines without a header. */
    Iterator<InternalRow> of(Iterator<String> lines, String source) {
        UnivocityParser parser = new UnivocityParser(dataSchema, requiredSchema, options, filters);
        CSVHeaderChecker header = new CSVHeaderChecker(requiredSchema, options, source, false);
        return UnivocityParser.parseIterator(lines, parser, header, requiredSchema);
    }
}
