import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Receives callbacks of payments and webhooks: checks, hands over to the shop, and answers at once. It listens on the
 * loopback address; let the proxy in front of yours admit the service's addresses only.
 */
final class Receiver {
    private static final int LARGEST = 64 * 1024;

    private final Shop shop;
    private final HttpServer server;
    private final Set<Object> seen = ConcurrentHashMap.newKeySet(); // ids of events: yours are in a table
    private volatile byte[] secret; // from PUT /v2/balance-webhook

    Receiver(Shop shop) throws IOException {
        this.shop = shop;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::handle);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What webhooks are verified with from now on. */
    void setSecret(byte[] given) {
        secret = given;
    }

    void close() {
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        int status;
        try {
            byte[] body = exchange.getRequestBody().readNBytes(LARGEST);
            status = status(exchange, body);
        } catch (GeneralSecurityException | RuntimeException error) { // not what the service sends
            status = 400;
        }
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private int status(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
        String text = new String(body, StandardCharsets.UTF_8);
        return switch (exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath()) {
            case "POST /callbacks" -> callback((Map<?, ?>) ((Map<?, ?>) Json.read(text)).get("data"));
            case "GET /callbacks" -> callback((Map<?, ?>) Json.read(message(exchange.getRequestURI().getRawQuery())));
            case "POST /webhooks" -> webhook(exchange.getRequestHeaders(), body);
            default -> 404;
        };
    }

    /** What we do not know, or ordered otherwise, the service did not send. */
    private int callback(Map<?, ?> payment) {
        Order order = shop.orders.get((String) payment.get("refid"));
        if (order == null) {
            return 404;
        }
        if (!order.product.equals(payment.get("product")) || !order.account.equals(payment.get("account"))
                || order.amount.compareTo((BigDecimal) payment.get("amount")) != 0) {
            return 400;
        }
        shop.heard.add(new Shop.Heard(order.refid, (String) payment.get("status")));
        return 200;
    }

    /** An event comes again after a lost answer: it counts once. */
    private int webhook(Headers headers, byte[] body) throws GeneralSecurityException {
        String id = headers.getFirst("webhook-id");
        String sent = headers.getFirst("webhook-timestamp");
        String signatures = headers.getFirst("webhook-signature");
        if (secret == null || !Webhooks.isGenuine(secret, id, sent, signatures, body)) {
            return 401;
        }
        Map<?, ?> event = (Map<?, ?>) Json.read(new String(body, StandardCharsets.UTF_8));
        if (seen.add(event.get("id"))) {
            shop.events.add(event);
        }
        return 204;
    }

    /** The payment of a callback by GET: the parameter `message`. */
    private static String message(String query) {
        for (String one : query.split("&")) {
            if (one.startsWith("message=")) {
                return URLDecoder.decode(one.substring("message=".length()), StandardCharsets.UTF_8);
            }
        }
        throw new IllegalArgumentException("no message");
    }
}
