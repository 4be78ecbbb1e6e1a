import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a customer buys. The refid is drawn once and names the payment for ever. */
final class Order {
    final String refid;
    final String product;
    final String account;
    final BigDecimal amount;
    final Map<String, String> extras;

    String status = "new";
    String remarks = "";
    BigDecimal cost = BigDecimal.ZERO;
    int asked;
    int failures;
    boolean isOpen = true;
    long askAt; // System.nanoTime()
    long politeAt = Long.MIN_VALUE; // not to be asked about before

    Order(String refid, String product, String account, String amount, Map<String, String> extras) {
        this.refid = refid;
        this.product = product;
        this.account = account;
        this.amount = new BigDecimal(amount);
        this.extras = extras;
    }

    /** The body of every POST /v2/topup for this order: the same one, or it would be another order. */
    Map<String, Object> request() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("refid", refid);
        body.put("product", product);
        body.put("account", account);
        body.put("amount", amount.toPlainString());
        if (!extras.isEmpty()) {
            body.put("extras", extras);
        }
        return body;
    }
}
