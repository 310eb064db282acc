package zoe.pushdown;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import org.apache.hadoop.io.Text;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.json.CreateJacksonParser$;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.catalyst.util.FailureSafeParser;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.GenTraversableOnce;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;

/** Parses lines as Spark's own reader of JSON lines does. */
final class JsonRows implements Rows {
    private static final long serialVersionUID = 1;

    private final StructType requiredSchema;
    private final JSONOptions options;
    private final Seq<Filter> filters;

    JsonRows(StructType requiredSchema, JSONOptions options, Seq<Filter> filters) {
        this.requiredSchema = requiredSchema;
        this.options = options;
        this.filters = filters;
    }

    @Override
    public Iterator<InternalRow> of(Iterator<Text> lines, String source) {
        JacksonParser parser = new JacksonParser(requiredSchema, options, true, filters);
        Opened opened = new Opened(options.encoding().isDefined() ? options.encoding().get() : null);
        AbstractFunction1<Text, Iterable<InternalRow>> parse = new AbstractFunction1<>() {
            @Override
            public Iterable<InternalRow> apply(Text line) {
                return parser.parse(line, opened, new Literal());
            }
        };
        FailureSafeParser<Text> safe = new FailureSafeParser<>(
            parse, options.parseMode(), requiredSchema, options.columnNameOfCorruptRecord());
        return lines.flatMap(new AbstractFunction1<Text, GenTraversableOnce<InternalRow>>() {
            @Override
            public GenTraversableOnce<InternalRow> apply(Text line) {
                return safe.parse(line);
            }
        });
    }

    private static final class Opened extends AbstractFunction2<JsonFactory, Text, JsonParser> {
        private final String encoding;

        Opened(String encoding) {
            this.encoding = encoding;
        }

        @Override
        public JsonParser apply(JsonFactory factory, Text line) {
            // Without the option, Jackson reads bytes, and lines that are not UTF-8 are malformed.
            return encoding == null ? CreateJacksonParser$.MODULE$.text(factory, line)
                : CreateJacksonParser$.MODULE$.text(encoding, factory, line);
        }
    }

    private static final class Literal extends AbstractFunction1<Text, UTF8String> {
        @Override
        public UTF8String apply(Text line) {
            return UTF8String.fromBytes(line.getBytes(), 0, line.getLength());
        }
    }
}
