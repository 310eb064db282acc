package zoe.pushdown;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.csv.CSVHeaderChecker;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.csv.UnivocityParser;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.AbstractFunction1;

/** Parses lines as Spark's own reader of CSV files does. */
final class CsvRows implements Rows {
    private static final long serialVersionUID = 1;

    private final StructType dataSchema;
    private final StructType requiredSchema;
    private final CSVOptions options;
    private final Seq<Filter> filters;

    CsvRows(StructType dataSchema, StructType requiredSchema, CSVOptions options, Seq<Filter> filters) {
        this.dataSchema = dataSchema;
        this.requiredSchema = requiredSchema;
        this.options = options;
        this.filters = filters;
    }

    @Override
    public Iterator<InternalRow> of(Iterator<Text> lines, String source) {
        Iterator<String> texts = lines.map(new Decoded());
        UnivocityParser parser = new UnivocityParser(dataSchema, requiredSchema, options, filters);
        CSVHeaderChecker header = new CSVHeaderChecker(requiredSchema, options, "CSV file: " + source, false);
        return UnivocityParser.parseIterator(texts, parser, header, requiredSchema);
    }

    private static final class Decoded extends AbstractFunction1<Text, String> {
        @Override
        public String apply(Text line) {
            return new String(line.getBytes(), 0, line.getLength(), StandardCharsets.UTF_8);
        }
    }
}
