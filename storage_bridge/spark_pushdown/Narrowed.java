package zoe.pushdown;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import scala.collection.AbstractIterator;

/** The lines of an answer of the store. An answer that is cut short is an error, since gzip ends with a checksum. */
final class Narrowed extends AbstractIterator<String> implements Closeable {
    private static final int BUFFER = 256 * 1024;
    /** A store that sends nothing for so long is given up; as Stocator's. */
    private static final long STALL_S = 300;
    private static final ScheduledExecutorService WATCH = Executors.newSingleThreadScheduledExecutor(run -> {
        Thread thread = new Thread(run, "zoe-pushdown-watch");
        thread.setDaemon(true);
        return thread;
    });

    private final InputStream answer;
    private final InputStream text;
    private final byte[] buffer = new byte[BUFFER];
    private byte[] line = new byte[1024];
    private int at;
    private int end;
    private String next;
    private boolean over;

    Narrowed(InputStream answer) throws IOException {
        this.answer = answer;
        ScheduledFuture<?> limit = WATCH.schedule(this::close, STALL_S, TimeUnit.SECONDS);
        try {
            this.text = new GZIPInputStream(new BufferedInputStream(answer, BUFFER), BUFFER);
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
    public String next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        String found = next;
        next = null;
        return found;
    }

    private String read() throws IOException {
        int length = 0;
        while (true) {
            if (at == end) {
                end = fill();
                at = 0;
                if (end <= 0) {
                    end = 0;
                    return length == 0 ? null : new String(line, 0, length, StandardCharsets.UTF_8);
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
                return new String(line, 0, length, StandardCharsets.UTF_8);
            }
        }
    }

    private int fill() throws IOException {
        ScheduledFuture<?> limit = WATCH.schedule(this::close, STALL_S, TimeUnit.SECONDS);
        try {
            return text.read(buffer, 0, BUFFER);
        } finally {
            limit.cancel(false);
        }
    }

    @Override
    public void close() {
        try {
            answer.close();
        } catch (IOException ignored) {
            // It is not read any more.
        }
    }
}
