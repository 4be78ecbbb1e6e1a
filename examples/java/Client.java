import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Sends signed requests with an API key. */
final class Client {
    /** No answer, or one that says nothing: the request may have been processed, and may not. */
    static final class Unanswered extends Exception {
        Unanswered(String text) {
            super(text);
        }
    }

    /** The service takes no request of this kind from us: somebody has to look at it, and a retry changes nothing. */
    static final class Rejected extends Exception {
        Rejected(String text) {
            super(text);
        }
    }

    /** A status, 200 or 400, and the JSON. */
    record Answer(int status, Map<?, ?> json) {}

    // The service answers within 29 seconds, or with a 504.
    private static final Duration TIMEOUT = Duration.ofSeconds(35);

    static {
        // By itself HttpClient may repeat a GET on a closed connection, and a nonce with it.
        System.setProperty("jdk.httpclient.redirects.retrylimit", "1");
    }

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String url;
    private final String key;
    private final byte[] secret;

    Client(String url, String key, String secret) {
        this.url = url;
        this.key = key;
        this.secret = Base64.getDecoder().decode(secret);
    }

    /** Sends one request; no content is no body. */
    Answer call(String method, String path, Map<String, String> parameters, Map<String, ?> content)
            throws Unanswered, Rejected, InterruptedException, GeneralSecurityException {
        String query = new TreeMap<>(parameters)
                .entrySet().stream().map(one -> encoded(one.getKey()) + "=" + encoded(one.getValue()))
                .collect(Collectors.joining("&"));
        byte[] body = content == null ? new byte[0] : Json.write(content).getBytes(StandardCharsets.UTF_8);
        URI address = URI.create(url + path + (query.isEmpty() ? "" : "?" + query));
        HttpRequest.Builder request = HttpRequest.newBuilder(address).timeout(TIMEOUT);
        request.method(method, HttpRequest.BodyPublishers.ofByteArray(body));
        request.header("Content-Type", "application/json");
        Signing.headers(key, secret, method, query, body).forEach(request::header);
        HttpResponse<String> response;
        try {
            response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException error) {
            throw new Unanswered(method + " " + path + ": " + error);
        }
        int status = response.statusCode();
        if (status >= 500 || status == 429) {
            throw new Unanswered(method + " " + path + ": " + status);
        }
        if (status != 200 && status != 400) {
            throw new Rejected(method + " " + path + " was answered " + status + ": " + response.body());
        }
        try {
            return new Answer(status, (Map<?, ?>) Json.read(response.body()));
        } catch (IllegalArgumentException | ClassCastException error) {
            throw new Unanswered(method + " " + path + ": " + error.getMessage());
        }
    }

    /** The JSON of a GET, or of a change of settings. */
    Map<?, ?> accepted(String method, String path, Map<String, String> parameters, Map<String, ?> content)
            throws Unanswered, Rejected, InterruptedException, GeneralSecurityException {
        Answer answer = call(method, path, parameters, content);
        if (answer.status() != 200) {
            throw new Rejected(method + " " + path + " was answered " + answer.status() + ": " + answer.json());
        }
        return answer.json();
    }

    /** Percent-encoded: a blank is %20. */
    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
