package zoe.pushdown;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.execution.datasources.PartitionedFile;

/** Reads objects of Swift with the credentials that Stocator has; tokens are kept for each process. */
final class StoreAccess implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String PREFIX = "fs.swift2d.service.";
    private static final String PUSHDOWN = "X-Zoe-Pushdown";
    /** A selection answers when it has found its first rows. */
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Duration SIGN_IN_PATIENCE = Duration.ofSeconds(10);
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;
    /** Swift rounds times of changes up to seconds; Stocator's listing may round them down. */
    private static final long ROUNDING_MS = 1000;
    /** A service that does not answer, or without selections, is not asked again for so long. */
    private static final long REST_MS = 60_000;
    private static final String VIEWS = "zoe-view-";
    private static final Map<String, Session> SESSIONS = new ConcurrentHashMap<>();
    private static final Map<String, Long> RESTING = new ConcurrentHashMap<>();
    private static final HttpClient CLIENT =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(SIGN_IN_PATIENCE).build();

    private final HashMap<String, String> properties = new HashMap<>();

    private StoreAccess() {}

    static StoreAccess of(Configuration hadoop) {
        StoreAccess made = new StoreAccess();
        for (Map.Entry<String, String> entry : hadoop) {
            if (entry.getKey().startsWith(PREFIX)) {
                made.properties.put(entry.getKey().substring(PREFIX.length()), hadoop.get(entry.getKey()));
            }
        }
        return made;
    }

    /** Returns the selected lines of a split. Raises IOException if it must be read plainly, and ChangedException if its
     * object is not the listed one. */
    Narrowed narrowed(PartitionedFile file, String selection) throws IOException, ChangedException {
        URI uri = file.toPath().toUri();
        int dot = uri.getHost().lastIndexOf('.');
        String service = uri.getHost().substring(dot + 1);
        if (uri.getHost().startsWith(VIEWS)) {
            throw new IOException("views");
        }
        if (System.currentTimeMillis() < RESTING.getOrDefault(service, 0L)) {
            throw new IOException("the store did not answer within the last minute, or without a selection");
        }
        HttpResponse<InputStream> answer = answer(service, "/" + uri.getHost().substring(0, dot) + uri.getPath(), selection);
        String told = answer.headers().firstValue(PUSHDOWN).orElse("");
        if (!"yes".equals(told)) {
            answer.body().close();
            if (answer.statusCode() == OK) {
                rest(service);
            }
            throw new IOException("busy".equals(told) ? "the tenant's CPU bound at the store" : "an answer " + answer.statusCode());
        }
        String why = whyNotListed(file, answer);
        if (why != null) {
            answer.body().close();
            throw new ChangedException(file.urlEncodedPath() + " changed while the query was running: " + why + "; make the DataFrame anew");
        }
        return new Narrowed(answer.body());
    }

    private HttpResponse<InputStream> answer(String service, String path, String selection) throws IOException {
        try {
            return get(service, path, selection);
        } catch (IOException error) {
            rest(service);
            throw error;
        }
    }

    private static void rest(String service) {
        RESTING.put(service, System.currentTimeMillis() + REST_MS);
    }

    private static String whyNotListed(PartitionedFile file, HttpResponse<InputStream> answer) {
        String bytes = answer.headers().firstValue("X-Zoe-Object-Bytes").orElse("");
        if (!bytes.equals(String.valueOf(file.fileSize()))) {
            return "it had " + file.fileSize() + " bytes, and has " + bytes;
        }
        String changed = answer.headers().firstValue("Last-Modified").orElse("");
        long time = ZonedDateTime.parse(changed, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant().toEpochMilli();
        return Math.abs(time - file.modificationTime()) > ROUNDING_MS ? "it was written again" : null;
    }

    private HttpResponse<InputStream> get(String service, String path, String selection) throws IOException {
        Session session = session(service, false);
        HttpResponse<InputStream> answer = get(session, path, selection);
        if (answer.statusCode() == UNAUTHORIZED) {
            answer.body().close();
            answer = get(session(service, true), path, selection);
        }
        return answer;
    }

    private static HttpResponse<InputStream> get(Session session, String path, String selection) throws IOException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(session.url + encoded(path))).timeout(PATIENCE)
            .header("X-Auth-Token", session.token).header(PUSHDOWN, selection).build();
        return send(request);
    }

    private Session session(String service, boolean anew) throws IOException {
        String key = service + " " + properties.get(service + ".auth.url") + " " + properties.get(service + ".username");
        Session known = SESSIONS.get(key);
        if (known == null || anew) {
            known = signIn(service);
            SESSIONS.put(key, known);
        }
        return known;
    }

    private Session signIn(String service) throws IOException {
        if (!"basic".equals(properties.get(service + ".auth.method"))) {
            throw new IOException("no sign-in by user and key for " + service);
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(properties.get(service + ".auth.url")))
            .timeout(SIGN_IN_PATIENCE).header("X-Auth-User", properties.get(service + ".username"))
            .header("X-Auth-Key", properties.get(service + ".password")).build();
        HttpResponse<InputStream> answer = send(request);
        answer.body().close();
        String url = answer.headers().firstValue("X-Storage-Url").orElse("");
        String token = answer.headers().firstValue("X-Auth-Token").orElse("");
        if (url.isEmpty() || token.isEmpty()) {
            throw new IOException("the sign-in answers " + answer.statusCode());
        }
        return new Session(url, token);
    }

    private static HttpResponse<InputStream> send(HttpRequest request) throws IOException {
        try {
            return CLIENT.send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", interrupted);
        }
    }

    private static String encoded(String path) {
        return URLEncoder.encode(path, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
    }

    private static final class Session {
        private final String url;
        private final String token;

        Session(String url, String token) {
            this.url = url;
            this.token = token;
        }
    }
}
