package zoe.pushdown;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.util.PermissiveMode$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.internal.SQLConf;

/** The format of CSV objects, for the store; only formats that the store reads as Spark does have one. */
final class CsvSettings extends Settings {
    private static final long serialVersionUID = 1;
    private static final int NULLS_MAX = 100;
    /** Options that change nothing, or that are checked below; any other one makes Spark read plainly. */
    private static final Set<String> KNOWN = Set.of(
        "header", "inferschema", "sep", "delimiter", "quote", "escape", "nullvalue", "mode", "samplingratio", "columnnameofcorruptrecord", "enforceschema", "multiline", "encoding", "charset",
        "ignoreleadingwhitespace", "ignoretrailingwhitespace", "preferdate");

    private final int width;
    private final String csv;

    private CsvSettings(int width, String csv, String plainly) {
        super("CSV", plainly);
        this.width = width;
        this.csv = csv;
    }

    static CsvSettings of(SparkSession session, HadoopFsRelation files) {
        SQLConf conf = session.sessionState().conf();
        CSVOptions options = new CSVOptions(
            files.options(), conf.csvColumnPruning(), conf.sessionLocalTimeZone(), conf.columnNameOfCorruptRecord());
        int width = files.dataSchema().length();
        String plainly = whyPlainly(session, files, KNOWN, options.columnNameOfCorruptRecord());
        plainly = plainly == null ? whyPlainly(options) : plainly;
        return new CsvSettings(width, plainly == null ? document(options) : "", plainly);
    }

    private static String whyPlainly(CSVOptions options) {
        if (options.parseMode() != PermissiveMode$.MODULE$) {
            return "option mode=" + options.parseMode().name();
        }
        if (!options.charset().equalsIgnoreCase("UTF-8")) {
            return "option encoding=" + options.charset();
        }
        Map<String, Boolean> unusual = new LinkedHashMap<>();
        unusual.put("columnPruning=false", !options.isColumnPruningEnabled());
        unusual.put("enforceSchema=false", !options.enforceSchema());
        unusual.put("multiLine=true", options.multiLine());
        unusual.put("ignoreLeadingWhiteSpace=true", options.ignoreLeadingWhiteSpaceInRead());
        unusual.put("ignoreTrailingWhiteSpace=true", options.ignoreTrailingWhiteSpaceInRead());
        unusual.put("comment", options.isCommentSet());
        unusual.put("lineSep", options.lineSeparatorInRead().isDefined());
        unusual.put("charToEscapeQuoteEscaping", options.charToEscapeQuoteEscaping().isDefined());
        unusual.put("sep with several characters", options.delimiter().length() != 1);
        String nulls = options.nullValue();
        unusual.put("nullValue", nulls.indexOf('\r') >= 0 || nulls.indexOf('\n') >= 0 || nulls.length() > NULLS_MAX);
        for (Map.Entry<String, Boolean> entry : unusual.entrySet()) {
            if (entry.getValue()) {
                return "option " + entry.getKey();
            }
        }
        return null;
    }

    private static String document(CSVOptions options) {
        List<String> parts = new ArrayList<>();
        parts.add("\"delimiter\":" + Json.text(options.delimiter()));
        parts.add("\"quote\":" + Json.text(String.valueOf(options.quote())));
        parts.add("\"escape\":" + Json.text(String.valueOf(options.escape())));
        parts.add("\"header\":" + options.headerFlag());
        parts.add("\"null_text\":" + Json.text(options.nullValue()));
        return "{" + String.join(",", parts) + "}";
    }

    @Override
    String request(List<Integer> columns, Where where, long start, long end) {
        List<String> numbers = new ArrayList<>();
        for (int column : columns) {
            numbers.add(String.valueOf(column));
        }
        return "{\"width\":" + width + ",\"columns\":[" + String.join(",", numbers) + "]" + condition(where)
            + ",\"start\":" + start + ",\"end\":" + end + ",\"csv\":" + csv + "}";
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && ((CsvSettings) other).csv.equals(csv) && ((CsvSettings) other).width == width;
    }

    @Override
    public int hashCode() {
        return csv.hashCode() + width;
    }
}
