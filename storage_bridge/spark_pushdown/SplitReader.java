package zoe.pushdown;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Reads a split through the store's selection, or plainly if the store does not answer with one. */
final class SplitReader extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>> implements Serializable {
    private static final long serialVersionUID = 1;
    private static final Logger LOG = LoggerFactory.getLogger(SplitReader.class);

    private static final List<String> COMPRESSED = List.of(".gz", ".bz2", ".deflate", ".snappy", ".lz4", ".zst");
    /** An object that was written just before the query was planned could be replaced without a visible change. */
    private static final long SETTLED_MS = 2000;

    private final long plannedMs = System.currentTimeMillis();
    private final CsvSettings settings;
    private final List<Integer> columns;
    private final Where where;
    private final StoreAccess access;
    private final Rows rows;
    private final Function1<PartitionedFile, Iterator<InternalRow>> plain;

    SplitReader(CsvSettings settings, List<Integer> columns, Where where, StoreAccess access, Rows rows,
                Function1<PartitionedFile, Iterator<InternalRow>> plain) {
        this.settings = settings;
        this.columns = columns;
        this.where = where;
        this.access = access;
        this.rows = rows;
        this.plain = plain;
    }

    @Override
    public Iterator<InternalRow> apply(PartitionedFile file) {
        Narrowed lines = isSuitable(file) ? request(file) : null;
        if (lines == null) {
            return plain.apply(file);
        }
        TaskContext task = TaskContext.get();
        if (task != null) {
            task.addTaskCompletionListener((TaskCompletionListener) context -> lines.close());
        }
        return rows.of(lines, "CSV file: " + file.urlEncodedPath());
    }

    private boolean isSuitable(PartitionedFile file) {
        String name = file.toPath().getName().toLowerCase(Locale.ROOT);
        return COMPRESSED.stream().noneMatch(name::endsWith) && file.modificationTime() + SETTLED_MS < plannedMs;
    }

    private Narrowed request(PartitionedFile file) {
        // Hadoop's reader of lines gives a line to the split in which the byte before it lies, the store to the split in
        // which it begins; with bounds moved by one, both kinds of splits can meet.
        long start = file.start() == 0 ? 0 : file.start() + 1;
        long end = file.start() + file.length() + 1;
        try {
            return access.narrowed(file, settings.request(columns, where, start, end));
        } catch (ChangedException changed) {
            throw new IllegalStateException(changed.getMessage());
        } catch (IOException | RuntimeException error) {
            LOG.info("{} is read plainly: {}", file.urlEncodedPath(), error.toString());
            return null;
        }
    }
}
