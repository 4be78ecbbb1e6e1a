/** The signature of webhooks, as Standard Webhooks describes it. Callbacks of payments have none. */

import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_S = 300;

/** Headers of a received request, by their names in lower case. */
export type ReceivedHeaders = Record<string, string | undefined>;

/**
 * True if a webhook was signed with this secret, of 64 hexadecimal digits, less than five minutes from `now`. `body` has the bytes as
 * they came. Signatures are compared in constant time.
 */
export function verifyWebhook(
  secret: string,
  headers: ReceivedHeaders,
  body: string | Uint8Array,
  now: Date = new Date(),
): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!id || !timestamp || !signatures || !/^\d+$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
  const mac = createHmac("sha256", Buffer.from(secret, "hex")).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => Buffer.from(signature.slice("v1,".length), "base64"))
    .some((signature) => signature.length === mac.length && timingSafeEqual(signature, mac));
}
