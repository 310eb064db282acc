package zoe.pushdown;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.sources.DataSourceRegister;
import scala.Option;

/**
 * Says once that the program has displaced Extensions. Spark makes an object of each data source on the class path when
 * it looks for one, which needs no setting that a program could displace, and does no harm without this jar.
 */
public final class Notice implements DataSourceRegister {
    private static final String SETTING = "spark.sql.extensions";
    private static final AtomicBoolean LOOKED = new AtomicBoolean();

    /** Spark calls it. */
    public Notice() {
        Option<SparkSession> session = SparkSession.getDefaultSession();
        if (session.isDefined() && LOOKED.compareAndSet(false, true)) {
            String line = line(session.get().sparkContext().getConf());
            if (line != null) {
                System.err.println(line);
            }
        }
    }

    private static String line(SparkConf conf) {
        String set = conf.get(SETTING, "");
        if (!conf.get("spark.zoe.pushdown", "").equals("true") || set.contains(Extensions.class.getName())) {
            return null;
        }
        return "zoe: queries read whole objects from the store, because " + SETTING + " is '" + set + "': add "
            + Extensions.class.getName() + " to it";
    }

    @Override
    public String shortName() {
        return "zoe-pushdown-notice";
    }
}
