package zoe.pushdown;

import java.io.Serializable;
import java.util.List;

/** What a scan asks of the store for each split, or why it reads plainly. */
final class Selection implements Serializable {
    private static final long serialVersionUID = 1;

    /** Null if the store is asked. */
    final String plainly;
    private final Settings settings;
    private final List<Integer> columns;
    private final Where where;

    Selection(Settings settings, List<Integer> columns, Where where, String plainly) {
        this.settings = settings;
        this.columns = columns;
        this.where = where;
        this.plainly = plainly;
    }

    /** Returns the header for the records that begin in these bytes. */
    String request(long start, long end) {
        return settings.request(columns, where, start, end);
    }
}
