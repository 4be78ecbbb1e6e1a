// Signs requests with an API key: a timestamp, a nonce, and an HMAC-SHA256 over what is sent.

import { createHash, createHmac, randomUUID } from "node:crypto";

/**
 * The four headers of a request. The query is the text after `?` as it is sent, sorted by key.
 *
 * The secret is Base64: what it decodes to is the HMAC's key. Every call draws a new nonce, so that a request that is
 * sent again is signed again.
 */
export function signedHeaders(key, secret, method, query, body) {
  const timestamp = Math.floor(Date.now() / 1000).toString();
  const nonce = randomUUID();
  const bodyHash = createHash("sha256").update(body).digest("base64");
  const text = `v1:${timestamp}:${nonce}:${method}:${query}:${bodyHash}`;
  const signature = createHmac("sha256", Buffer.from(secret, "base64")).update(text).digest("base64");
  return { "X-Api-Key": key, "X-Timestamp": timestamp, "X-Nonce": nonce, "X-Signature": `v1=${signature}` };
}
