import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A day of a shop, against the simulator with scenario.yaml. Exit code 0 when everything is as it should be. */
final class Demo {
    private static final int SPEED = 5; // of the clock in scenario.yaml; yours is 1
    private static final int PATIENCE_S = 20;
    private static final List<String> EXPECTED =
            List.of("Succesful", "Succesful", "Failed", "Succesful", "refused", "Succesful");

    private final Client client;
    private final Shop shop;
    private final Receiver receiver;

    private Demo() throws IOException {
        client = new Client(
                System.getenv("RESELLER_BASE_URL"), System.getenv("RESELLER_API_KEY"), System.getenv("RESELLER_API_SECRET"));
        shop = new Shop(client, SPEED);
        receiver = new Receiver(shop);
    }

    public static void main(String[] arguments) throws Exception {
        Demo demo = new Demo();
        int code = 1;
        try {
            code = demo.run() ? 0 : 1;
        } catch (Client.Rejected | Client.Unanswered | TimeoutException error) {
            System.err.println("demo: " + error.getMessage());
        } finally {
            demo.receiver.close();
        }
        System.exit(code);
    }

    /** Pays, receives, reconciles, and lets the simulator try to fool the receiver. */
    private boolean run() throws Exception {
        // The secret is shown when the webhook is created and by a rotation: yours is stored then.
        Map<String, String> address = Map.of("url", receiver.url() + "/webhooks");
        Map<?, ?> webhook = client.accepted("PUT", "/v2/balance-webhook", Map.of(), address);
        if (!webhook.containsKey("webhook_secret")) {
            webhook = client.accepted("POST", "/v2/balance-webhook/rotate-secret", Map.of(), null);
        }
        receiver.setSecret(HexFormat.of().parseHex((String) webhook.get("webhook_secret")));

        setCallback("POST");
        place("RELOAD", "0123456789", "10.00", Map.of());
        place("ELECTRIC", "210012345678", "100.00", Map.of());
        place("RELOAD", "0198765432", "20.00", Map.of());
        place("RELOAD", "0111111111", "5.00", Map.of());
        place("RELOAD", "0123456789", "7.00", Map.of());
        shop.settle(PATIENCE_S);
        setCallback("GET");
        place("DATA", "0123456789", "10.00", Map.of("subproduct_code", "D10W"));
        shop.settle(PATIENCE_S);
        for (Order order : shop.placed) {
            String more = order.status.equals("Succesful") ? "cost " + order.cost.setScale(2) : order.remarks;
            System.out.printf("%s %s %s: %s, %s%n", order.product, order.account, order.amount, order.status, more);
        }

        simulator("resellers/RS001/deposits", Map.of("amount", "250.00"));
        Map<?, ?> event = shop.events.poll(PATIENCE_S, TimeUnit.SECONDS);
        if (event == null) {
            throw new TimeoutException("no webhook came");
        }
        BigDecimal deposit = (BigDecimal) ((Map<?, ?>) event.get("data")).get("amount");
        System.out.printf("deposit of %s: its webhook is genuine%n", deposit.setScale(2));

        LocalDate today = LocalDate.now(ZoneOffset.ofHours(8));
        String days = today.minusDays(1) + " - " + today.plusDays(1);
        Reconcile.Result result = new Reconcile(client, days, 2).run(shop.placed, List.of(deposit));
        System.out.printf("reconciled %d payments and %d entries: %d differences%n",
                result.payments(), result.entries(), result.differences().size());
        result.differences().forEach(line -> System.out.println("difference: " + line));

        List<String> wrong = fooled();
        System.out.println("forged, stale and repeated messages: "
                + (wrong.isEmpty() ? "all answered rightly" : String.join(", ", wrong)));
        boolean isExpected = shop.placed.stream().map(order -> order.status).toList().equals(EXPECTED);
        return isExpected && result.differences().isEmpty() && wrong.isEmpty();
    }

    private void place(String product, String account, String amount, Map<String, String> extras)
            throws Client.Rejected, InterruptedException, GeneralSecurityException {
        shop.place(new Order(UUID.randomUUID().toString(), product, account, amount, extras));
    }

    /** Where callbacks of payments go from now on. */
    private void setCallback(String method)
            throws Client.Unanswered, Client.Rejected, InterruptedException, GeneralSecurityException {
        Map<String, String> query = Map.of("url", receiver.url() + "/callbacks", "method", method);
        client.accepted("POST", "/v2/callback-url", query, null);
    }

    /** Has the simulator forge messages, and names those that the receiver answered wrongly. */
    private static List<String> fooled() throws IOException, InterruptedException {
        List<?> probes = (List<?>) simulator("probes", Map.of("reseller", "RS001")).get("probes");
        return probes.stream().map(one -> (Map<?, ?>) one).filter(one -> !"ok".equals(one.get("verdict")))
                .map(one -> (String) one.get("probe")).toList();
    }

    /** What no client can do: somebody pays money into the wallet, somebody forges messages. */
    private static Map<?, ?> simulator(String path, Map<String, String> content)
            throws IOException, InterruptedException {
        URI address = URI.create(System.getenv("RESELLER_SIM_URL") + "/sandboxes/default/" + path);
        HttpRequest request = HttpRequest.newBuilder(address).version(HttpClient.Version.HTTP_1_1)
                .POST(HttpRequest.BodyPublishers.ofString(Json.write(content))).build();
        return (Map<?, ?>) Json.read(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
}
