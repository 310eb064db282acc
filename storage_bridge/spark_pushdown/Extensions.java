package zoe.pushdown;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.execution.SparkStrategy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** Named by `spark.sql.extensions`: plans scans of objects so that the store reads columns and rows for them. */
public final class Extensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    /** The scans use internals of this version. */
    static final String SPARK_VERSION = "3.5.9";
    private static final Logger LOG = LoggerFactory.getLogger(Extensions.class);

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        String version = org.apache.spark.package$.MODULE$.SPARK_VERSION();
        if (!SPARK_VERSION.equals(version)) {
            LOG.info("no pushdown to the store: made for Spark {}, this is {}", SPARK_VERSION, version);
            return BoxedUnit.UNIT;
        }
        extensions.injectPlannerStrategy(new AbstractFunction1<SparkSession, SparkStrategy>() {
            @Override
            public SparkStrategy apply(SparkSession session) {
                return new StoreScans(session);
            }
        });
        return BoxedUnit.UNIT;
    }
}
