import java.math.BigDecimal;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Orders, and what becomes of them: paid once each, asked about until their status is final. In memory here: yours are rows
 * of a table, written before anything is sent. One thread asks; the receiver only looks orders up and tells what it heard.
 */
final class Shop {
    /** What a callback told. */
    record Heard(String refid, String status) {}

    // The service spells it with one s. "Refund" is what a payment becomes that was voided.
    private static final Set<String> FINAL = Set.of("Succesful", "Failed", "Refund");
    private static final long POLL_S = 5;
    private static final long LONGEST_S = 60;

    final List<Order> placed = new ArrayList<>();
    final Map<String, Order> orders = new ConcurrentHashMap<>();
    final BlockingQueue<Heard> heard = new LinkedBlockingQueue<>();
    final BlockingQueue<Map<?, ?>> events = new LinkedBlockingQueue<>(); // verified webhooks, each once

    private final Client client;
    private final int speed; // of clocks that run faster

    Shop(Client client, int speed) {
        this.client = client;
        this.speed = speed;
    }

    /** Stores an order and pays it. */
    void place(Order order) throws Client.Rejected, InterruptedException, GeneralSecurityException {
        orders.put(order.refid, order);
        placed.add(order);
        ask(order);
    }

    /** Asks until every order has its final status: when a callback says so, and every five seconds anyway. */
    void settle(long withinS)
            throws Client.Rejected, InterruptedException, GeneralSecurityException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(withinS);
        while (true) {
            long now = System.nanoTime();
            Optional<Order> next = placed.stream().filter(order -> order.isOpen)
                    .min(Comparator.comparingLong(order -> order.askAt - now));
            if (next.isEmpty()) {
                return;
            }
            Order order = next.get();
            if (now - end > 0) {
                throw new TimeoutException(order.refid + " is still " + order.status);
            }
            if (order.askAt - now <= 0) {
                ask(order);
                continue;
            }
            Heard one = heard.poll(order.askAt - now, TimeUnit.NANOSECONDS);
            if (one != null) {
                hear(one);
            }
        }
    }

    /** Pays, or asks again, which is the same request: the service pays a refid once. */
    private void ask(Order order) throws Client.Rejected, InterruptedException, GeneralSecurityException {
        order.asked++;
        Client.Answer answer;
        try {
            answer = client.call("POST", "/v2/topup", Map.of(), order.request());
        } catch (Client.Unanswered error) {
            // It may have been paid: the same refid again, with doubled waits. A new refid would pay twice.
            order.failures++;
            order.askAt = after(order.failures < 6 ? 1L << order.failures : LONGEST_S);
            return;
        }
        Map<?, ?> payment = (Map<?, ?>) answer.json().get("data");
        order.failures = 0;
        order.remarks = (String) payment.get("remarks");
        if (answer.status() == 400) {
            order.status = "refused";
            order.isOpen = false;
            return;
        }
        order.status = (String) payment.get("status");
        order.cost = (BigDecimal) payment.get("cost");
        order.isOpen = !FINAL.contains(order.status);
        order.askAt = after(POLL_S);
        if (order.asked > 1 || !order.status.equals("Accepted")) {
            order.politeAt = order.askAt;
        }
    }

    /** A callback is no proof, since it is not signed. It is a reason to ask now. */
    private void hear(Heard one) {
        Order order = orders.get(one.refid());
        if (FINAL.contains(one.status()) && !one.status().equals(order.status)) {
            order.isOpen = true;
            order.askAt = Math.max(System.nanoTime(), order.politeAt);
        }
    }

    private long after(long seconds) {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds) / speed;
    }
}
