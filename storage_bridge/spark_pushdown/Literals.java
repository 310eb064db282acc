package zoe.pushdown;

import java.math.BigDecimal;
import java.time.LocalDate;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType;

/** Literals as the store writes them. */
final class Literals {
    private static final int TEXT_MAX = 500;
    private static final long FIRST_DAY = LocalDate.of(1, 1, 1).toEpochDay();
    private static final long LAST_DAY = LocalDate.of(9999, 12, 31).toEpochDay();

    private Literals() {}

    /** Returns null for a literal that the store cannot compare as Spark does. */
    static String text(Literal literal) {
        DataType type = literal.dataType();
        Object value = literal.value();
        if (type instanceof StringType) {
            String text = value.toString();
            return text.length() > TEXT_MAX || text.indexOf('\ufffd') >= 0 ? null : "'" + text.replace("'", "''") + "'";
        }
        if (type instanceof IntegralType) {
            return value.toString();
        }
        if (type instanceof DoubleType) {
            double number = (Double) value;
            return Double.isNaN(number) || Double.isInfinite(number) ? null : new BigDecimal(value.toString()).toString();
        }
        if (value instanceof Decimal) {
            return ((Decimal) value).toJavaBigDecimal().toPlainString();
        }
        if (type instanceof DateType) {
            int day = (Integer) value;
            return day < FIRST_DAY || day > LAST_DAY ? null : "'" + LocalDate.ofEpochDay(day) + "'";
        }
        return null;
    }
}
