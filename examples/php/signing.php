<?php
// Signs requests with an API key: a timestamp, a nonce, and an HMAC-SHA256 over what is sent.

declare(strict_types=1);

/**
 * The four headers of a request, as lines. The query is the text after `?` as it is sent, sorted by key.
 *
 * The secret is Base64: what it decodes to is the HMAC's key. Every call draws a new nonce, so that a request that is
 * sent again is signed again.
 */
function signed_headers(string $key, string $secret, string $method, string $query, string $body): array
{
    $timestamp = (string) time();
    $nonce = bin2hex(random_bytes(16));
    $hash = base64_encode(hash('sha256', $body, true));
    $text = "v1:$timestamp:$nonce:$method:$query:$hash";
    $signature = base64_encode(hash_hmac('sha256', $text, base64_decode($secret), true));
    return ["X-Api-Key: $key", "X-Timestamp: $timestamp", "X-Nonce: $nonce", "X-Signature: v1=$signature"];
}
