import java.math.BigDecimal;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Compares our records with the service's: payments with the history, the wallet with its statement. */
final class Reconcile {
    /** What was read, and what differs, a sentence each. */
    record Result(int payments, int entries, List<String> differences) {}

    // The history spells success with two s.
    private static final Map<String, String> HISTORY_NAMES = Map.of("Succesful", "Successful");

    private final Client client;
    private final String days;
    private final int page;
    private final List<String> differences = new ArrayList<>();

    /** Of a day, `yyyy-MM-dd` in GMT+8, or of several, `yyyy-MM-dd - yyyy-MM-dd`, read in pages of this length. */
    Reconcile(Client client, String days, int page) {
        this.client = client;
        this.days = days;
        this.page = page;
    }

    Result run(List<Order> orders, List<BigDecimal> deposits)
            throws Client.Unanswered, Client.Rejected, InterruptedException, GeneralSecurityException {
        Map<Object, Map<?, ?>> history = history();
        Map<Object, Map<?, ?>> statement = statement();
        Set<Object> ours = new HashSet<>();
        for (Order order : orders) {
            if (!order.status.equals("refused")) {
                ours.add(order.refid);
                compare(order, history.get(order.refid));
            }
        }
        BigDecimal prices = BigDecimal.ZERO.setScale(2);
        for (Map<?, ?> record : history.values()) {
            prices = prices.add(new BigDecimal((String) record.get("price")));
            if (!ours.contains(record.get("refid"))) {
                differences.add(record.get("refid") + " is in the history, and not in our records");
            }
        }
        BigDecimal spent = BigDecimal.ZERO.setScale(2);
        List<BigDecimal> paidIn = new ArrayList<>();
        for (Map<?, ?> entry : statement.values()) {
            BigDecimal amount = (BigDecimal) entry.get("amount");
            if (Set.of("TRANSACTION", "REFUND").contains(entry.get("type"))) {
                spent = spent.subtract(amount);
            } else if ("DEPOSIT".equals(entry.get("type"))) {
                paidIn.add(amount.setScale(2));
            }
        }
        if (spent.compareTo(prices) != 0) {
            differences.add("the statement's payments come to " + spent + ", those of the history to " + prices);
        }
        // Each deposit counts once, so that a second one of the same amount is noticed.
        for (BigDecimal amount : deposits) {
            if (!paidIn.remove(amount.setScale(2))) {
                differences.add("a deposit of " + plain(amount) + " is not in the statement");
            }
        }
        for (BigDecimal amount : paidIn) {
            differences.add("a deposit of " + plain(amount) + " is in the statement, and not in our records");
        }
        return new Result(history.size(), statement.size(), differences);
    }

    /** Notes what differs between an order and its record in the history. */
    private void compare(Order order, Map<?, ?> record) {
        if (record == null) {
            differences.add(order.refid + " is " + order.status + " in our records, and not in the history");
            return;
        }
        same(order, "status", HISTORY_NAMES.getOrDefault(order.status, order.status), record.get("status_name"));
        same(order, "product", order.product, record.get("product_code"));
        same(order, "account", order.account, record.get("account"));
        same(order, "amount", plain(order.amount), plain(new BigDecimal((String) record.get("amount"))));
        same(order, "cost", plain(order.cost), plain(new BigDecimal((String) record.get("price"))));
    }

    private void same(Order order, String name, String ours, Object theirs) {
        if (!ours.equals(theirs)) {
            differences.add(order.refid + ": " + name + " is " + ours + ", in the history " + theirs);
        }
    }

    /** One text for 10, 10.0 and 10.00. */
    private static String plain(BigDecimal amount) {
        return amount.setScale(Math.max(2, amount.stripTrailingZeros().scale())).toPlainString();
    }

    /** All payments by refid: `offset` moves on until a page is not full. */
    private Map<Object, Map<?, ?>> history()
            throws Client.Unanswered, Client.Rejected, InterruptedException, GeneralSecurityException {
        Map<Object, Map<?, ?>> records = new LinkedHashMap<>();
        for (int offset = 0; ; offset += page) {
            List<?> found = read("/v2/transactions", "offset", offset, records, "refid");
            if (found.size() < page) {
                return records;
            }
        }
    }

    /** All entries: `page` moves on until one is not full. By id, since a new entry moves those before it. */
    private Map<Object, Map<?, ?>> statement()
            throws Client.Unanswered, Client.Rejected, InterruptedException, GeneralSecurityException {
        Map<Object, Map<?, ?>> entries = new LinkedHashMap<>();
        for (int number = 1; ; number++) {
            List<?> found = read("/v2/balance-statement", "page", number, entries, "id");
            if (found.size() < page) {
                return entries;
            }
        }
    }

    private List<?> read(String path, String parameter, int value, Map<Object, Map<?, ?>> into, String id)
            throws Client.Unanswered, Client.Rejected, InterruptedException, GeneralSecurityException {
        Map<String, String> query = new HashMap<>(Map.of("date", days, "limit", "" + page, parameter, "" + value));
        List<?> found = (List<?>) client.accepted("GET", path, query, null).get("data");
        for (Object one : found) {
            into.put(((Map<?, ?>) one).get(id), (Map<?, ?>) one);
        }
        return found;
    }
}
