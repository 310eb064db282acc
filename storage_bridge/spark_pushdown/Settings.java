package zoe.pushdown;

import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.types.StructField;
import scala.collection.JavaConverters;

/** The format of objects, for the store; only formats that the store reads as Spark does are asked for. */
abstract class Settings implements Serializable {
    private static final long serialVersionUID = 1;
    private static final int WIDTH_MAX = 4096;
    /** Options that change nothing, or that decide which objects are read. */
    private static final Set<String> OF_FILES = Set.of(
        "path", "paths", "pathglobfilter", "recursivefilelookup", "modifiedbefore", "modifiedafter", "ignorecorruptfiles",
        "ignoremissingfiles");

    /** The format's name for people. */
    final String name;
    /** Why Spark should read plainly; null if the store can read this format as Spark does. */
    final String plainly;

    Settings(String name, String plainly) {
        this.name = name;
        this.plainly = plainly;
    }

    /** Returns the header of a request for the records that begin in these bytes, in ASCII. */
    abstract String request(List<Integer> columns, Where where, long start, long end);

    /** Returns why these columns cannot be asked for; null if they can. */
    String whyNot(List<Integer> columns) {
        return null;
    }

    /** Returns the fields of that header for a condition. */
    static String condition(Where where) {
        return where.isEmpty() ? "" : ",\"where\":" + Json.text(where.text) + ",\"types\":" + where.types();
    }

    /** known: options whose effect the format considers, in small letters. Returns null if there is no reason. */
    static String whyPlainly(SparkSession session, HadoopFsRelation files, Set<String> known, String corrupt) {
        for (String option : JavaConverters.mapAsJavaMap(files.options()).keySet()) {
            String small = option.toLowerCase(Locale.ROOT);
            if (!known.contains(small) && !OF_FILES.contains(small)) {
                return "option " + option;
            }
        }
        for (StructField field : files.dataSchema().fields()) {
            if (field.name().equals(corrupt)) {
                return "a column of corrupt records";
            }
            if (field.getExistenceDefaultValue().isDefined()) {
                return "columns with default values";
            }
        }
        int width = files.dataSchema().length();
        if (width == 0 || width > WIDTH_MAX) {
            return width + " columns";
        }
        if (files.bucketSpec().isDefined() || files.overlappedPartCols().size() > 0) {
            return "buckets, or partition columns that are also in the files";
        }
        String policy = session.sessionState().conf().legacyTimeParserPolicy().toString();
        return "LEGACY".equals(policy) ? "spark.sql.legacy.timeParserPolicy=LEGACY" : null;
    }

    @Override
    public boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && Objects.equals(((Settings) other).plainly, plainly);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }
}
