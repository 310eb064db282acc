package zoe.pushdown;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.AccumulatorV2;

/** What the splits of each SQL execution read: bytes of the objects, bytes that the store sent, reasons to read plainly. */
final class Figures extends AccumulatorV2<Figures.Read, Map<Long, Figures.Sum>> {
    private static final long serialVersionUID = 1;
    private static final String EXECUTION = "spark.sql.execution.id";
    private static final int REASONS_MAX = 5;

    private Map<Long, Sum> sums = new HashMap<>();

    /** A split. */
    static final class Read implements java.io.Serializable {
        private static final long serialVersionUID = 1;
        final long execution;
        final long bytes;
        final long sent;
        final String plainly;

        /** plainly: why it is read plainly; null if the store selects. */
        Read(long bytes, long sent, String plainly) {
            TaskContext task = TaskContext.get();
            String named = task == null ? null : task.getLocalProperty(EXECUTION);
            this.execution = named == null ? -1 : Long.parseLong(named);
            this.bytes = bytes;
            this.sent = sent;
            this.plainly = plainly;
        }
    }

    /** The splits of an execution. */
    static final class Sum implements java.io.Serializable {
        private static final long serialVersionUID = 1;
        long bytes;
        long sent;
        final TreeMap<String, Integer> plainly = new TreeMap<>();

        void add(Sum other) {
            bytes += other.bytes;
            sent += other.sent;
            other.plainly.forEach(this::addReason);
        }

        void addReason(String why, int splits) {
            if (plainly.size() < REASONS_MAX || plainly.containsKey(why)) {
                plainly.merge(why, splits, Integer::sum);
            }
        }
    }

    @Override
    public boolean isZero() {
        return sums.isEmpty();
    }

    @Override
    public Figures copy() {
        Figures made = new Figures();
        made.merge(this);
        return made;
    }

    @Override
    public void reset() {
        sums = new HashMap<>();
    }

    @Override
    public synchronized void add(Read read) {
        Sum sum = sums.computeIfAbsent(read.execution, id -> new Sum());
        sum.bytes += read.bytes;
        sum.sent += read.sent;
        if (read.plainly != null) {
            sum.addReason(read.plainly, 1);
        }
    }

    @Override
    public synchronized void merge(AccumulatorV2<Read, Map<Long, Sum>> other) {
        other.value().forEach((id, sum) -> sums.computeIfAbsent(id, key -> new Sum()).add(sum));
    }

    @Override
    public synchronized Map<Long, Sum> value() {
        return new HashMap<>(sums);
    }

    /** Heartbeats of executors send it while the task adds to it. */
    private synchronized void writeObject(ObjectOutputStream out) throws IOException {
        out.defaultWriteObject();
    }

    /** Returns and forgets the figures of an execution; null if it read nothing. */
    synchronized Sum taken(long execution) {
        return sums.remove(execution);
    }
}
