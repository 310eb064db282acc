package zoe.pushdown;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.planning.PhysicalOperation$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.csv.CSVFileFormat;
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat;
import scala.Option;
import scala.Tuple3;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * Plans a scan of objects in Swift, of CSV or JSON lines, as Spark does, with another format, which asks the store for the columns and
 * rows of the query. Listing, splits, partition values and the filter above the scan stay Spark's.
 */
final class StoreScans extends SparkStrategy {
    private static final String SCHEME = "swift2d";
    private final SparkSession session;

    StoreScans(SparkSession session) {
        this.session = session;
    }

    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
        Option<Tuple3<Seq<NamedExpression>, Seq<Expression>, LogicalPlan>> found = PhysicalOperation$.MODULE$.unapply(plan);
        if (found.isEmpty() || !(found.get()._3() instanceof LogicalRelation)) {
            return none();
        }
        LogicalRelation relation = (LogicalRelation) found.get()._3();
        if (relation.isStreaming() || !(relation.relation() instanceof HadoopFsRelation)) {
            return none();
        }
        HadoopFsRelation files = (HadoopFsRelation) relation.relation();
        boolean on = session.conf().get("spark.zoe.pushdown", "true").equals("true");
        if (!on || !inStore(files)) {
            return none();
        }
        FileFormat format = format(relation, files, JavaConverters.seqAsJavaList(found.get()._2()));
        if (format == null) {
            return none();
        }
        // Made anew: Spark's own transformations would keep the old relation, since all formats of CSV are equal to it.
        LogicalPlan made = with(relation, files, format);
        for (Expression filter : JavaConverters.seqAsJavaList(found.get()._2())) {
            made = new Filter(filter, made);
        }
        return FileSourceStrategy$.MODULE$.apply(new Project(found.get()._1(), made));
    }

    /** Returns the format that asks the store; null for other formats. */
    private FileFormat format(LogicalRelation relation, HadoopFsRelation files, List<Expression> filters) {
        Class<?> own = files.fileFormat().getClass();
        boolean csv = own == CSVFileFormat.class;
        if (!csv && own != JsonFileFormat.class) {
            return null;
        }
        // In JSON, a text that is compared as a number is rare: Spark decides.
        boolean casts = csv && !session.sessionState().conf().ansiEnabled();
        Where where = new Conditions(files.dataSchema(), relation.output(), casts).where(filters);
        return csv ? new StoreCsvFormat(new Scan(CsvSettings.of(session, files), where))
            : new StoreJsonFormat(new Scan(JsonSettings.of(session, files), where));
    }

    private static boolean inStore(HadoopFsRelation files) {
        Seq<Path> roots = files.location().rootPaths();
        for (Path root : JavaConverters.seqAsJavaList(roots)) {
            if (!SCHEME.equals(root.toUri().getScheme())) {
                return false;
            }
        }
        return !roots.isEmpty();
    }

    private static LogicalRelation with(LogicalRelation relation, HadoopFsRelation files, FileFormat format) {
        HadoopFsRelation changed = new HadoopFsRelation(
            files.location(), files.partitionSchema(), files.dataSchema(), files.bucketSpec(), format, files.options(),
            files.sparkSession());
        return new LogicalRelation(changed, relation.output(), relation.catalogTable(), relation.isStreaming());
    }

    private static Seq<SparkPlan> none() {
        List<SparkPlan> empty = new ArrayList<>();
        return JavaConverters.asScalaBuffer(empty);
    }
}
