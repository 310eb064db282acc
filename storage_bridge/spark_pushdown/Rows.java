package zoe.pushdown;

import java.io.Serializable;
import org.apache.hadoop.io.Text;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;

/** Parses lines as Spark's own reader of a format does. */
interface Rows extends Serializable {
    /** Returns the rows of lines without a header. source: their object. */
    Iterator<InternalRow> of(Iterator<Text> lines, String source);
}
