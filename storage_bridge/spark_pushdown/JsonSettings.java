package zoe.pushdown;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JSONOptionsInRead;
import org.apache.spark.sql.catalyst.util.PermissiveMode$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructField;

/** Objects of JSON lines. The store narrows lines of strict JSON only, so that lenient options change nothing. */
final class JsonSettings extends Settings {
    private static final long serialVersionUID = 1;
    /** Most of Swift's longest header. */
    private static final int NAMES_MAX = 3500;
    private static final Set<String> KNOWN = Set.of(
        "mode", "multiline", "encoding", "charset", "columnnameofcorruptrecord", "samplingratio", "primitivesasstring",
        "prefersdecimal", "dropfieldifallnull", "inferschema", "infertimestamp", "timestampformat", "timestampntzformat",
        "timezone", "locale", "allowcomments", "allowunquotedfieldnames", "allowsinglequotes", "allownumericleadingzeros",
        "allownonnumericnumbers", "allowbackslashescapinganycharacter", "allowunquotedcontrolchars");

    private final List<String> names = new ArrayList<>();

    private JsonSettings(HadoopFsRelation files, String plainly) {
        super("JSON", plainly);
        for (StructField field : files.dataSchema().fields()) {
            names.add(field.name());
        }
    }

    static JsonSettings of(SparkSession session, HadoopFsRelation files) {
        JSONOptions options = options(session, files.options());
        String plainly = whyPlainly(session, files, KNOWN, options.columnNameOfCorruptRecord());
        // Otherwise, Spark continues a line behind a wrong value of a nested field at a place that depends on the others.
        String partial = "spark.sql.json.enablePartialResults";
        if (plainly == null && !session.conf().get(partial, "true").equals("true")) {
            plainly = partial + "=false";
        }
        return new JsonSettings(files, plainly == null ? whyPlainly(files, options) : plainly);
    }

    static JSONOptions options(SparkSession session, scala.collection.immutable.Map<String, String> given) {
        SQLConf conf = session.sessionState().conf();
        return new JSONOptionsInRead(given, conf.sessionLocalTimeZone(), conf.columnNameOfCorruptRecord());
    }

    private static String whyPlainly(HadoopFsRelation files, JSONOptions options) {
        if (options.parseMode() != PermissiveMode$.MODULE$) {
            return "option mode=" + options.parseMode().name();
        }
        if (options.multiLine()) {
            return "option multiLine=true";
        }
        if (options.lineSeparatorInRead().isDefined()) {
            return "option lineSep";
        }
        if (options.encoding().isDefined() && !"UTF-8".equalsIgnoreCase(options.encoding().get())) {
            return "option encoding=" + options.encoding().get();
        }
        for (StructField field : files.dataSchema().fields()) {
            if (field.name().chars().anyMatch(sign -> sign < ' ' || sign == '"' || sign == '\\')) {
                return "a field whose name needs escapes";
            }
        }
        return null;
    }

    @Override
    String whyNot(List<Integer> columns) {
        return fields(columns).length() > NAMES_MAX ? "names of fields that are too long for a request" : null;
    }

    @Override
    String request(List<Integer> columns, Where where, long start, long end) {
        return "{\"fields\":" + fields(columns) + condition(where) + ",\"start\":" + start + ",\"end\":" + end + "}";
    }

    private String fields(List<Integer> columns) {
        List<String> made = new ArrayList<>();
        for (int column : columns) {
            made.add("\"c" + column + "\":" + Json.text(names.get(column)));
        }
        return "{" + String.join(",", made) + "}";
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && ((JsonSettings) other).names.equals(names);
    }

    @Override
    public int hashCode() {
        return names.hashCode();
    }
}
