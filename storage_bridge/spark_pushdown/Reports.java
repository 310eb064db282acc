package zoe.pushdown;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports to Zoe's API what queries read, at most once a second; without an address, or if the API is away, not. */
final class Reports {
    private static final Logger LOG = LoggerFactory.getLogger(Reports.class);
    /** As many as Zoe keeps. */
    private static final int QUERIES_MAX = 100;
    private static final int TEXT_MAX = 200;
    private static final long INTERVAL_S = 1;
    private static final long LAST_S = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int TOO_MANY = 429;
    private static final int ERRORS = 500;

    private final String url;
    private final String token;
    private final ArrayDeque<String> queries = new ArrayDeque<>();
    private final HttpClient client;
    private final ScheduledExecutorService sender;

    private Reports(String url, String token) {
        this.url = url;
        this.token = token;
        this.client = url == null ? null
            : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE).build();
        this.sender = url == null ? null : Executors.newSingleThreadScheduledExecutor(run -> {
            Thread thread = new Thread(run, "zoe-query-reports");
            thread.setDaemon(true);
            return thread;
        });
        if (sender != null) {
            sender.scheduleWithFixedDelay(this::send, INTERVAL_S, INTERVAL_S, TimeUnit.SECONDS);
        }
    }

    static Reports of(Configuration hadoop) {
        return new Reports(hadoop.get("zoe.queries.url"), hadoop.get("zoe.queries.token"));
    }

    /** Adds a query that ended. */
    synchronized void add(long number, Figures.Sum sum) {
        if (url == null) {
            return;
        }
        List<String> reasons = new ArrayList<>();
        for (String why : sum.plainly.keySet()) {
            reasons.add(Json.text(why.length() > TEXT_MAX ? why.substring(0, TEXT_MAX) : why));
        }
        queries.add("{\"number\":" + Math.max(number, 0) + ",\"object_bytes\":" + sum.bytes + ",\"read_bytes\":" + sum.sent
            + ",\"plainly\":[" + String.join(",", reasons) + "]}");
        if (queries.size() > QUERIES_MAX) {
            queries.remove();
        }
    }

    /** Sends the rest. */
    void close() {
        if (sender == null) {
            return;
        }
        sender.execute(this::send);
        sender.shutdown();
        try {
            sender.awaitTermination(LAST_S, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void send() {
        List<String> taken = taken();
        if (taken.isEmpty()) {
            return;
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(PATIENCE)
            .header("Authorization", "Bearer " + token).header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"queries\":[" + String.join(",", taken) + "]}")).build();
        try {
            int status = client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
            if (status == TOO_MANY || status >= ERRORS) {
                putBack(taken);
            }
        } catch (IOException error) {
            LOG.info("queries are not reported to Zoe yet: {}", error.toString());
            putBack(taken);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized List<String> taken() {
        List<String> taken = new ArrayList<>(queries);
        queries.clear();
        return taken;
    }

    private synchronized void putBack(List<String> taken) {
        for (int at = taken.size() - 1; at >= 0 && queries.size() < QUERIES_MAX; at--) {
            queries.addFirst(taken.get(at));
        }
    }
}
