package zoe.pushdown;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.util.PermissiveMode$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.JavaConverters;

/** The format of CSV objects, for the store; only formats that the store reads as Spark does have one. */
final class CsvSettings implements Serializable {
    private static final long serialVersionUID = 1;
    private static final int WIDTH_MAX = 4096;
    /** Options that change nothing, or that are checked below; any other one makes Spark read plainly. */
    private static final Set<String> KNOWN = Set.of(
        "header", "inferschema", "sep", "delimiter", "quote", "escape", "nullvalue", "mode", "path", "paths",
        "samplingratio", "columnnameofcorruptrecord", "enforceschema", "multiline", "encoding", "charset",
        "ignoreleadingwhitespace", "ignoretrailingwhitespace", "pathglobfilter", "recursivefilelookup", "modifiedbefore",
        "modifiedafter", "ignorecorruptfiles", "ignoremissingfiles", "preferdate");

    final int width;
    private final String csv;

    private CsvSettings(int width, String csv) {
        this.width = width;
        this.csv = csv;
    }

    /** Returns null where Spark should read plainly. */
    static CsvSettings of(SparkSession session, HadoopFsRelation files) {
        SQLConf conf = session.sessionState().conf();
        if (!session.conf().get("spark.zoe.pushdown", "true").equals("true")) {
            return null;
        }
        for (String name : JavaConverters.mapAsJavaMap(files.options()).keySet()) {
            if (!KNOWN.contains(name.toLowerCase(Locale.ROOT))) {
                return null;
            }
        }
        CSVOptions options = new CSVOptions(
            files.options(), conf.csvColumnPruning(), conf.sessionLocalTimeZone(), conf.columnNameOfCorruptRecord());
        StructType schema = files.dataSchema();
        boolean usual = options.isColumnPruningEnabled() && options.parseMode() == PermissiveMode$.MODULE$
            && options.enforceSchema() && !options.multiLine() && options.charset().equalsIgnoreCase("UTF-8")
            && !options.ignoreLeadingWhiteSpaceInRead() && !options.ignoreTrailingWhiteSpaceInRead()
            && !options.isCommentSet() && options.lineSeparatorInRead().isEmpty()
            && options.delimiter().length() == 1 && options.charToEscapeQuoteEscaping().isEmpty();
        if (!usual || schema.length() == 0 || schema.length() > WIDTH_MAX || files.bucketSpec().isDefined()
                || files.overlappedPartCols().size() > 0) {
            return null;
        }
        for (StructField field : schema.fields()) {
            if (field.name().equals(options.columnNameOfCorruptRecord()) || hasDefault(field)) {
                return null;
            }
        }
        String nulls = options.nullValue();
        if (nulls.indexOf('\r') >= 0 || nulls.indexOf('\n') >= 0 || nulls.length() > 100) {
            return null;
        }
        List<String> parts = new ArrayList<>();
        parts.add("\"delimiter\":" + Json.text(options.delimiter()));
        parts.add("\"quote\":" + Json.text(String.valueOf(options.quote())));
        parts.add("\"escape\":" + Json.text(String.valueOf(options.escape())));
        parts.add("\"header\":" + options.headerFlag());
        parts.add("\"null_text\":" + Json.text(nulls));
        return new CsvSettings(schema.length(), "{" + String.join(",", parts) + "}");
    }

    private static boolean hasDefault(StructField field) {
        return field.getExistenceDefaultValue().isDefined();
    }

    /** Returns the header of a request, in ASCII. */
    String request(List<Integer> columns, Where where, long start, long end) {
        List<String> numbers = new ArrayList<>();
        for (int column : columns) {
            numbers.add(String.valueOf(column));
        }
        String condition = where.isEmpty() ? "" : ",\"where\":" + Json.text(where.text) + ",\"types\":" + where.types();
        return "{\"width\":" + width + ",\"columns\":[" + String.join(",", numbers) + "]" + condition
            + ",\"start\":" + start + ",\"end\":" + end + ",\"csv\":" + csv + "}";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CsvSettings && ((CsvSettings) other).csv.equals(csv) && ((CsvSettings) other).width == width;
    }

    @Override
    public int hashCode() {
        return csv.hashCode() + width;
    }
}
