package zoe.pushdown;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.Text;
import scala.collection.AbstractIterator;

/** The lines of an answer of the store. An answer that is cut short is an error, since gzip ends with a checksum. */
final class Narrowed extends AbstractIterator<Text> implements Closeable {
    private static final int BUFFER = 256 * 1024;
    /** A store that sends nothing for so long is given up; as Stocator's. */
    private static final long STALL_S = 300;
    private static final ScheduledExecutorService WATCH = Executors.newSingleThreadScheduledExecutor(run -> {
        Thread thread = new Thread(run, "zoe-pushdown-watch");
        thread.setDaemon(true);
        return thread;
    });

    private final Counted answer;
    private final InputStream unpacked;
    private final byte[] buffer = new byte[BUFFER];
    private byte[] line = new byte[1024];
    private int at;
    private int end;
    private Text next;
    private boolean over;

    Narrowed(InputStream answer) throws IOException {
        this.answer = new Counted(answer);
        ScheduledFuture<?> limit = WATCH.schedule(this::close, STALL_S, TimeUnit.SECONDS);
        try {
            this.unpacked = new GZIPInputStream(new BufferedInputStream(this.answer, BUFFER), BUFFER);
        } catch (IOException error) {
            close();
            throw error;
        } finally {
            limit.cancel(false);
        }
    }

    @Override
    public boolean hasNext() {
        if (next == null && !over) {
            try {
                next = read();
            } catch (IOException error) {
                close();
                throw new UncheckedIOException("the store's answer ended too early", error);
            }
            over = next == null;
            if (over) {
                close();
            }
        }
        return next != null;
    }

    @Override
    public Text next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        Text found = next;
        next = null;
        return found;
    }

    private Text read() throws IOException {
        int length = 0;
        while (true) {
            if (at == end) {
                end = fill();
                at = 0;
                if (end <= 0) {
                    end = 0;
                    return length == 0 ? null : text(length);
                }
            }
            int stop = at;
            while (stop < end && buffer[stop] != '\n') {
                stop++;
            }
            if (length + stop - at > line.length) {
                line = Arrays.copyOf(line, Math.max(2 * line.length, length + stop - at));
            }
            System.arraycopy(buffer, at, line, length, stop - at);
            length += stop - at;
            boolean whole = stop < end;
            at = whole ? stop + 1 : stop;
            if (whole) {
                return text(length);
            }
        }
    }

    private Text text(int length) {
        Text made = new Text();
        made.set(line, 0, length);
        return made;
    }

    private int fill() throws IOException {
        ScheduledFuture<?> limit = WATCH.schedule(this::close, STALL_S, TimeUnit.SECONDS);
        try {
            return unpacked.read(buffer, 0, BUFFER);
        } finally {
            limit.cancel(false);
        }
    }

    /** Returns how many bytes came from the store. */
    long received() {
        return answer.bytes;
    }

    @Override
    public void close() {
        try {
            answer.close();
        } catch (IOException ignored) {
            // It is not read any more.
        }
    }

    /** Counts bytes, for the query's figures and for Spark's own metrics of input. */
    private static final class Counted extends FilterInputStream {
        private static final FileSystem.Statistics STATISTICS = FileSystem.getStatistics("swift2d", OfStore.class);
        private long bytes;

        Counted(InputStream answer) {
            super(answer);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int found = super.read(into, offset, length);
            if (found > 0) {
                bytes += found;
                STATISTICS.incrementBytesRead(found);
            }
            return found;
        }
    }

    /** A name for Hadoop's statistics. */
    private abstract static class OfStore extends FileSystem {}
}
