import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;

/** Verifies webhooks: the scheme of Standard Webhooks, with a hexadecimal secret. */
final class Webhooks {
    private static final long TOLERANCE_S = 300;

    private Webhooks() {}

    /** Whether the service sent these bytes within the last five minutes; the secret is what its digits encode. */
    static boolean isGenuine(byte[] secret, String id, String sent, String signatures, byte[] body)
            throws GeneralSecurityException {
        if (id == null || sent == null || signatures == null || !sent.matches("[0-9]{1,12}")
                || Math.abs(Instant.now().getEpochSecond() - Long.parseLong(sent)) > TOLERANCE_S) {
            return false;
        }
        ByteArrayOutputStream signed = new ByteArrayOutputStream();
        signed.writeBytes((id + "." + sent + ".").getBytes(StandardCharsets.UTF_8));
        signed.writeBytes(body);
        String expected = "v1," + Base64.getEncoder().encodeToString(Signing.hmac(secret, signed.toByteArray()));
        boolean isFound = false;
        for (String one : signatures.split(" ")) {
            isFound |= MessageDigest.isEqual(expected.getBytes(), one.getBytes()); // in constant time
        }
        return isFound;
    }
}
