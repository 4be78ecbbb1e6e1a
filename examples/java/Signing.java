import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs requests with an API key: a timestamp, a nonce, and an HMAC-SHA256 over what is sent. */
final class Signing {
    private Signing() {}

    /**
     * The four headers of a request. The query is the text after "?" as it is sent, sorted by key; the secret is what the
     * Base64 of the service decodes to. Every call draws a new nonce, so that a request that is sent again is signed again.
     */
    static Map<String, String> headers(String key, byte[] secret, String method, String query, byte[] body)
            throws GeneralSecurityException {
        String timestamp = Long.toString(Instant.now().getEpochSecond());
        String nonce = UUID.randomUUID().toString();
        String hash = Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(body));
        String text = String.join(":", "v1", timestamp, nonce, method, query, hash);
        String signature = Base64.getEncoder().encodeToString(hmac(secret, text.getBytes(StandardCharsets.UTF_8)));
        return Map.of("X-Api-Key", key, "X-Timestamp", timestamp, "X-Nonce", nonce, "X-Signature", "v1=" + signature);
    }

    /** The HMAC-SHA256 of some bytes. */
    static byte[] hmac(byte[] secret, byte[] text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        return mac.doFinal(text);
    }
}
