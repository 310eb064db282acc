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
    private final Selection selection;
    private final StoreAccess access;
    private final Rows rows;
    private final Figures figures;
    private final Function1<PartitionedFile, Iterator<InternalRow>> plain;

    SplitReader(Selection selection, StoreAccess access, Rows rows, Figures figures,
                Function1<PartitionedFile, Iterator<InternalRow>> plain) {
        this.selection = selection;
        this.access = access;
        this.rows = rows;
        this.figures = figures;
        this.plain = plain;
    }

    @Override
    public Iterator<InternalRow> apply(PartitionedFile file) {
        Narrowed lines;
        try {
            lines = request(file);
        } catch (ChangedException changed) {
            throw new IllegalStateException(changed.getMessage());
        } catch (IOException | RuntimeException error) {
            LOG.info("{} is read plainly: {}", file.urlEncodedPath(), error.toString());
            String why = error.getMessage() == null ? error.toString() : error.getMessage();
            figures.add(new Figures.Read(file.length(), file.length(), why));
            return plain.apply(file);
        }
        TaskContext task = TaskContext.get();
        if (task != null) {
            task.addTaskCompletionListener((TaskCompletionListener) context -> {
                lines.close();
                figures.add(new Figures.Read(file.length(), lines.received(), null));
            });
        }
        return rows.of(lines, file.urlEncodedPath());
    }

    private Narrowed request(PartitionedFile file) throws IOException, ChangedException {
        if (selection.plainly != null) {
            throw new IOException(selection.plainly);
        }
        String name = file.toPath().getName().toLowerCase(Locale.ROOT);
        if (COMPRESSED.stream().anyMatch(name::endsWith)) {
            throw new IOException("compressed objects");
        }
        if (file.modificationTime() + SETTLED_MS >= plannedMs) {
            throw new IOException("objects that were just written");
        }
        // Hadoop's reader of lines gives a line to the split in which the byte before it lies, the store to the split in
        // which it begins; with bounds moved by one, both kinds of splits can meet.
        long start = file.start() == 0 ? 0 : file.start() + 1;
        return access.narrowed(file, selection.request(start, file.start() + file.length() + 1));
    }
}
