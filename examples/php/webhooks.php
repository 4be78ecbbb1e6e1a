<?php
// Verifies webhooks: the scheme of Standard Webhooks, with a hexadecimal secret.

declare(strict_types=1);

const TOLERANCE_S = 300;

/** Whether the service sent these bytes within the last five minutes. */
function is_genuine(string $secret, string $id, string $sent, string $signatures, string $body): bool
{
    if (!ctype_digit($sent) || abs(time() - (int) $sent) > TOLERANCE_S) {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", hex2bin($secret), true));
    foreach (explode(' ', $signatures) as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}
