package zoe.pushdown;

import java.util.Locale;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;

/** Prints for each query what it read of the store, where the output of the program goes, and reports it to Zoe. */
final class QueryLog extends SparkListener {
    private static final Map<SparkContext, Figures> KNOWN = new WeakHashMap<>();
    private static final double MEGA = 1e6;
    private final Figures figures;
    private final Reports reports;

    private QueryLog(Figures figures, Reports reports) {
        this.figures = figures;
        this.reports = reports;
    }

    /** Returns the figures of the session's application. */
    static synchronized Figures figures(SparkSession session) {
        return KNOWN.computeIfAbsent(session.sparkContext(), context -> {
            Figures made = new Figures();
            context.register(made);
            context.addSparkListener(new QueryLog(made, Reports.of(context.hadoopConfiguration())));
            return made;
        });
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof SparkListenerSQLExecutionEnd) {
            long id = ((SparkListenerSQLExecutionEnd) event).executionId();
            Figures.Sum sum = figures.taken(id);
            if (sum != null) {
                System.err.println(line(id, sum));
                reports.add(id, sum);
            }
        }
    }

    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd event) {
        reports.close();
    }

    private static String line(long id, Figures.Sum sum) {
        StringBuilder made = new StringBuilder(String.format(
            Locale.ROOT, "zoe: query %d: %.2f of %.2f MB read from the store", id, sum.sent / MEGA, sum.bytes / MEGA));
        sum.plainly.forEach((why, splits) -> made.append("; plainly for ").append(why));
        return made.toString();
    }
}
